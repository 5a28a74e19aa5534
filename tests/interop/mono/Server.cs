// Serves the value services with Mono's implementation of .NET's web services: in ASP.NET, in this
// process.
//
//     Server.exe FOLDER with the services' pages; in its folder bin, this program and the assembly
//     of Services.cs
//
// Prints a line `listening on URL`, and serves until it is killed.

using System;
using System.IO;
using System.Threading;

static class Server
{
    static void Main(string[] arguments)
    {
        Console.WriteLine("listening on http://localhost:" + Application.Start(Path.GetFullPath(arguments[0])));
        Thread.Sleep(Timeout.Infinite);
    }
}
