// .NET's XmlSerializer on Mono as a peer of the benchmark: the line protocol of ../PROTOCOL.md over standard input and output.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>A prepared workload.</summary>
public abstract class Work
{
    private const int Copies = 16;

    protected Kind Kind;
    private long baseline;

    public static Work Prepare(string workload, byte[] message)
    {
        var words = workload.Split('-');
        Kind kind = null;
        if (words.Length == 2 && words[1] == "composites")
        {
            kind = Kind.CompositeIn(message);
        }
        else if (words.Length != 2 || !Kind.All.TryGetValue(words[1], out kind))
        {
            throw new ArgumentException("unknown workload " + workload);
        }
        var work = words[0] == "decode" ? (Work)new Decoder(kind, message) : new Encoder(kind, message);
        work.baseline = Memory.Status("VmRSS:");
        work.Once();
        return work;
    }

    /// <summary>One timed run.</summary>
    public abstract void Once();

    /// <summary>The values of the last run, or what its output decodes to.</summary>
    protected abstract object Values();

    /// <summary>Size of the message that runs are timed on.</summary>
    public abstract int Bytes { get; }

    /// <summary>The last encoded message.</summary>
    public abstract byte[] Output();

    public string Sum()
    {
        var sum = new Checksum();
        Kind.Sum(Values(), sum);
        return sum.Hex();
    }

    public long Growth()
    {
        return Math.Max(0, Memory.Status("VmHWM:") - baseline);
    }

    private sealed class Decoder : Work
    {
        private readonly byte[][] messages;
        private int next;
        private object values;

        public Decoder(Kind kind, byte[] message)
        {
            Kind = kind;
            messages = Enumerable.Range(0, Copies).Select(_ => (byte[])message.Clone()).ToArray();
        }

        /// <summary>The values of the run before are garbage from here on.</summary>
        public override void Once()
        {
            values = null;
            values = Kind.Decode(messages[next++ % Copies]);
        }

        protected override object Values()
        {
            return values;
        }

        public override int Bytes
        {
            get { return messages[0].Length; }
        }

        public override byte[] Output()
        {
            throw new InvalidOperationException("a decode has no output");
        }
    }

    private sealed class Encoder : Work
    {
        private readonly object values;
        private readonly MemoryStream stream = new MemoryStream();

        public Encoder(Kind kind, byte[] message)
        {
            Kind = kind;
            values = kind.Decode(message);
        }

        public override void Once()
        {
            stream.SetLength(0);
            Kind.Encode(values, stream);
        }

        protected override object Values()
        {
            return Kind.Decode(stream.ToArray());
        }

        public override int Bytes
        {
            get { return (int)stream.Length; }
        }

        public override byte[] Output()
        {
            return stream.ToArray();
        }
    }
}

/// <summary>Resident memory of this process, from /proc.</summary>
public static class Memory
{
    /// <summary>A line of the status, in bytes; 0 where there is none.</summary>
    public static long Status(string key)
    {
        try
        {
            var line = File.ReadLines("/proc/self/status").First(text => text.StartsWith(key));
            return long.Parse(new string(line.Where(char.IsDigit).ToArray())) * 1024;
        }
        catch (Exception)
        {
            return 0;
        }
    }

    /// <summary>Sets the high-water mark to what is resident now, where the kernel lets us.</summary>
    public static void ResetPeak()
    {
        try
        {
            File.WriteAllText("/proc/self/clear_refs", "5");
        }
        catch (Exception)
        {
            // Then it is the process's maximum.
        }
    }
}

/// <summary>Time on a processor, which .NET tells in steps of ten milliseconds alone.</summary>
public static class Processor
{
    private const int ThreadClock = 3;

    [StructLayout(LayoutKind.Sequential)]
    private struct Time
    {
        public IntPtr Seconds;
        public IntPtr Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int ClockGetTime(int clock, out Time time);

    /// <summary>Nanoseconds that this thread has been on a processor.</summary>
    public static long ThreadTime()
    {
        Time time;
        ClockGetTime(ThreadClock, out time);
        return (long)time.Seconds * 1000000000 + (long)time.Nanoseconds;
    }
}

public static class Peer
{
    /// <summary>Milliseconds of runs before times count: what is timed is compiled code, and the serializers are generated.</summary>
    private const int Warm = 3000;

    private static readonly Stream Requests = new BufferedStream(Console.OpenStandardInput(), 65536);
    private static Work prepared;

    public static void Main()
    {
        var answers = Console.OpenStandardOutput();
        // Whatever a library prints is no answer.
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
        var workloads = new[] { "decode-", "encode-" }.SelectMany(direction => kinds.Select(kind => "\"" + direction + kind + "\""));
        return "{\"peer\":\"mono\",\"version\":\"" + Version() + "\",\"workloads\":[" + string.Join(",", workloads) + "],\"warm\":" + Warm + "}";
    }

    private static string Version()
    {
        var name = typeof(object).Assembly.GetType("Mono.Runtime").GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return ((string)name.Invoke(null, null)).Split(' ')[0];
    }

    private static string Prepare(string workload, byte[] message)
    {
        prepared = null;
        var work = Work.Prepare(workload, message);
        var sum = work.Sum();
        prepared = work;
        return "{\"ok\":true,\"checksum\":\"" + sum + "\",\"bytes\":" + work.Bytes + "}";
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
