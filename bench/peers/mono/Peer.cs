// .NET's web services on Mono as a peer of the benchmark: the line protocol of ../PROTOCOL.md over
// standard input and output.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

public static class Peer
{
    /// <summary>Milliseconds of runs before times count, so that compiled code and generated
    /// serializers are timed.</summary>
    private const int Warm = 3000;

    private static readonly Stream Requests = new BufferedStream(Console.OpenStandardInput(), 65536);
    private static Work prepared;
    private static bool isServing;

    public static void Main()
    {
        var answers = Console.OpenStandardOutput();
        // The output of a library is not an answer.
        Console.SetOut(Console.Error);
        for (string line; (line = Line()) != null && line != "quit";)
        {
            var answer = Answer(line.Split(' '));
            answers.Write(answer, 0, answer.Length);
            answers.Flush();
        }
        Environment.Exit(0);
    }

    private static byte[] Answer(string[] words)
    {
        try
        {
            switch (words[0])
            {
                case "hello": return Text(Hello());
                case "prepare": return Text(Prepare(words[1], Read(int.Parse(words[3]))));
                case "call": return Text(Call(words, Read(int.Parse(words[4]))));
                case "serve": return Text(Serve(int.Parse(words[1])));
                case "run": return Text(Run(int.Parse(words[1])));
                case "output": return Output();
                default: throw new ArgumentException("this peer does not know " + words[0]);
            }
        }
        catch (Exception failure)
        {
            var text = failure.GetBaseException().Message.Select(c => c < ' ' || c == '"' || c == '\\' ? ' ' : c);
            return Text("{\"ok\":false,\"error\":\"" + new string(text.ToArray()) + "\"}");
        }
    }

    private static string Hello()
    {
        var kinds = Kind.All.Keys.Concat(new[] { "composites" });
        var workloads = new[] { "decode-", "encode-" }.SelectMany(direction => kinds.Select(kind => direction + kind));
        return "{\"peer\":\"mono\",\"version\":\"" + Version() + "\",\"workloads\":" + List(workloads) + ",\"operations\":"
            + List(Client.Operations) + ",\"calls\":" + List(Client.Operations) + ",\"warm\":" + Warm + "}";
    }

    private static string List(IEnumerable<string> names)
    {
        return "[" + string.Join(",", names.Select(name => "\"" + name + "\"")) + "]";
    }

    private static string Version()
    {
        var name = typeof(object).Assembly.GetType("Mono.Runtime").GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return ((string)name.Invoke(null, null)).Split(' ')[0];
    }

    private static string Prepare(string workload, byte[] message)
    {
        return Prepared(() => Work.Prepare(workload, message));
    }

    private static string Call(string[] words, byte[] message)
    {
        return Prepared(() => Work.Calls(int.Parse(words[1]), words[2], int.Parse(words[3]), message));
    }

    private static string Prepared(Func<Work> make)
    {
        prepared = null;
        var work = make();
        var sum = work.Sum();
        prepared = work;
        return "{\"ok\":true,\"checksum\":\"" + sum + "\",\"bytes\":" + work.Bytes + "}";
    }

    /// <summary>The web application has this program in its folder <c>bin</c>. Connections do not
    /// occupy a thread.</summary>
    private static string Serve(int connections)
    {
        if (connections <= 0 || isServing)
        {
            throw new ArgumentException("usage: serve CONNECTIONS, once");
        }
        isServing = true;
        var port = Application.Start(Path.GetDirectoryName(AppDomain.CurrentDomain.BaseDirectory.TrimEnd('/')));
        return "{\"ok\":true,\"port\":" + port + "}";
    }

    private static string Run(int count)
    {
        var work = Current();
        var times = new long[count];
        Memory.ResetPeak();
        var before = Processor.ThreadTime();
        for (var i = 0; i < count; i++)
        {
            var start = Stopwatch.GetTimestamp();
            work.Once();
            times[i] = (Stopwatch.GetTimestamp() - start) * (1000000000 / Stopwatch.Frequency);
        }
        var processor = Processor.ThreadTime() - before;
        var growth = work.Growth();
        return "{\"ns\":[" + string.Join(",", times) + "],\"checksum\":\"" + work.Sum() + "\",\"peak_bytes\":" + growth
            + ",\"cpu_ns\":" + processor + "}";
    }

    private static byte[] Output()
    {
        var message = Current().Output();
        return Text(message.Length.ToString()).Concat(message).ToArray();
    }

    private static Work Current()
    {
        if (prepared == null)
        {
            throw new InvalidOperationException("nothing is prepared");
        }
        return prepared;
    }

    private static byte[] Text(string line)
    {
        return Encoding.UTF8.GetBytes(line + "\n");
    }

    private static string Line()
    {
        var line = new StringBuilder();
        for (int octet; (octet = Requests.ReadByte()) != '\n'; line.Append((char)octet))
        {
            if (octet < 0)
            {
                return null;
            }
        }
        return line.ToString();
    }

    private static byte[] Read(int length)
    {
        var message = new byte[length];
        for (var read = 0; read < length;)
        {
            var more = Requests.Read(message, read, length - read);
            if (more <= 0)
            {
                throw new EndOfStreamException("the message is cut");
            }
            read += more;
        }
        return message;
    }
}
