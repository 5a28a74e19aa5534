// An ASP.NET web application in this process. Mono's web server (xsp4) does not start with the Mono
// of the same system, so requests come from the HTTP listener of the class library. The benchmark's
// peer is hosted in the same way.

using System;
using System.Collections;
using System.Globalization;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Threading;
using System.Web;
using System.Web.Hosting;

/// <summary>Runs in the application domain of the web application, whose folder <c>bin</c> contains
/// this assembly.</summary>
public class Application : MarshalByRefObject
{
    /// <summary>Serves the application of a folder on a free local port until the process ends.
    /// Returns the port.</summary>
    public static int Start(string folder)
    {
        return ((Application) ApplicationHost.CreateApplicationHost(typeof(Application), "/", folder)).Listen();
    }

    public override object InitializeLifetimeService()
    {
        return null;
    }

    int Listen()
    {
        int port = FreePort();
        var listener = new HttpListener();
        foreach (string host in new[] { "localhost", "127.0.0.1" }) listener.Prefixes.Add("http://" + host + ":" + port + "/");
        listener.Start();
        SendAtOnce();
        new Thread(() => Serve(listener)).Start();
        return port;
    }

    /// <summary>
    /// The listener writes the first 16 KiB of a response, and then the rest, which waits until the
    /// client has acknowledged the first part: some 40 milliseconds, if the rest is short. It has
    /// no option against that, so this sets the option on its sockets; accepted sockets inherit it.
    /// </summary>
    static void SendAtOnce()
    {
        const BindingFlags Hidden = BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance;
        Type manager = typeof(HttpListener).Assembly.GetType("System.Net.EndPointManager", true);
        var addresses = (Hashtable) manager.GetField("ip_to_endpoints", Hidden).GetValue(null);
        foreach (Hashtable ports in addresses.Values)
        foreach (object endpoint in ports.Values)
            ((Socket) endpoint.GetType().GetField("sock", Hidden).GetValue(endpoint)).NoDelay = true;
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

/// <summary>Adapts a request of the listener to ASP.NET.</summary>
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

    /// <summary>The listener handles the length of a response and the lifetime of a connection
    /// itself.</summary>
    public override void SendUnknownResponseHeader(string name, string value)
    {
        if (name == "Content-Length") context.Response.ContentLength64 = long.Parse(value, CultureInfo.InvariantCulture);
        else if (name != "Transfer-Encoding" && name != "Connection") context.Response.Headers[name] = value;
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
