// A web application of ASP.NET in this process. The web server that comes with Mono (xsp4) does not start with the Mono of the same
// system; so requests come from the HTTP listener of the class library. The benchmark's peer is hosted so, too.

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

/// <summary>Lives in the domain of the web application, whose folder has this assembly in its folder <c>bin</c>.</summary>
public class Application : MarshalByRefObject
{
    /// <summary>Serves the application of a folder at a free port of this machine, which it gives, until the process ends.</summary>
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
    /// The listener writes the first 16 KiB of a response, and then the rest, which waits until the client has acknowledged the former: some
    /// 40 milliseconds, if the rest is short. It offers no option against that, so its own sockets are told; those that they accept do the same.
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

/// <summary>A request of the listener as ASP.NET sees it.</summary>
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

    /// <summary>The listener has its own ways to say how long a response is, and to keep a connection.</summary>
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
