// Serves the services of values with .NET's web services as Mono has them: in ASP.NET, in this process.
//
//     Server.exe FOLDER      with the services' pages; in its folder bin, this program and the assembly of Services.cs
//
// Prints a line `listening on URL`, and serves until it is killed. The web server that comes with Mono (xsp4) does not start with
// the Mono of the same system; so requests come from the HTTP listener of the class library.

using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Web;
using System.Web.Hosting;

// Lives in the domain of the web application.
public class Server : MarshalByRefObject
{
    static void Main(string[] arguments)
    {
        string folder = Path.GetFullPath(arguments[0]);
        var server = (Server) ApplicationHost.CreateApplicationHost(typeof(Server), "/", folder);
        Console.WriteLine("listening on " + server.Start());
        Thread.Sleep(Timeout.Infinite);
    }

    public override object InitializeLifetimeService()
    {
        return null;
    }

    // Listens at a free port.
    public string Start()
    {
        string url = "http://localhost:" + FreePort();
        var listener = new HttpListener();
        listener.Prefixes.Add(url + "/");
        listener.Start();
        new Thread(() => Serve(listener)).Start();
        return url;
    }

    static int FreePort()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint) listener.LocalEndpoint).Port;
        listener.Stop();
        return port;
    }

    static void Serve(HttpListener listener)
    {
        while (true)
        {
            HttpListenerContext context = listener.GetContext();
            ThreadPool.QueueUserWorkItem(_ => HttpRuntime.ProcessRequest(new Request(context)));
        }
    }
}

// A request of the listener as ASP.NET sees it.
class Request : SimpleWorkerRequest
{
    readonly HttpListenerContext context;

    public Request(HttpListenerContext context)
        : base(context.Request.Url.AbsolutePath.TrimStart('/'), context.Request.Url.Query.TrimStart('?'), TextWriter.Null)
    {
        this.context = context;
    }

    public override string GetHttpVerbName()
    {
        return context.Request.HttpMethod;
    }

    public override string GetKnownRequestHeader(int index)
    {
        return context.Request.Headers[GetKnownRequestHeaderName(index)];
    }

    public override string GetUnknownRequestHeader(string name)
    {
        return context.Request.Headers[name];
    }

    public override string[][] GetUnknownRequestHeaders()
    {
        string[] names = context.Request.Headers.AllKeys;
        return Array.ConvertAll(names, name => new[] { name, context.Request.Headers[name] });
    }

    public override int ReadEntityBody(byte[] buffer, int size)
    {
        return context.Request.InputStream.Read(buffer, 0, size);
    }

    public override void SendStatus(int code, string description)
    {
        context.Response.StatusCode = code;
        context.Response.StatusDescription = description;
    }

    public override void SendKnownResponseHeader(int index, string value)
    {
        SendUnknownResponseHeader(GetKnownResponseHeaderName(index), value);
    }

    public override void SendUnknownResponseHeader(string name, string value)
    {
        // The listener counts for itself, and knows how it sends.
        if (name == "Content-Length" || name == "Transfer-Encoding" || name == "Connection") return;
        context.Response.Headers[name] = value;
    }

    public override void SendResponseFromMemory(byte[] data, int length)
    {
        context.Response.OutputStream.Write(data, 0, length);
    }

    public override void FlushResponse(bool isFinal)
    {
        context.Response.OutputStream.Flush();
    }

    public override void EndOfRequest()
    {
        context.Response.Close();
    }
}
