// A prepared workload: the work of a timed run, and its results.

using System;
using System.IO;
using System.Linq;

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
        return Begun(words[0] == "decode" ? (Work)new Decoder(kind, message) : new Encoder(kind, message));
    }

    /// <summary>Calls of an operation with the values of a message, or with a number.</summary>
    public static Work Calls(int port, string operation, int count, byte[] message)
    {
        return Begun(new Caller(port, operation, count, message));
    }

    private static Work Begun(Work work)
    {
        work.baseline = Memory.Status("VmRSS:");
        work.Once();
        return work;
    }

    /// <summary>One timed run.</summary>
    public abstract void Once();

    /// <summary>The values of the last run, or of its decoded output.</summary>
    protected abstract object Values();

    /// <summary>Size of the message in timed runs.</summary>
    public abstract int Bytes { get; }

    /// <summary>The last encoded message.</summary>
    public abstract byte[] Output();

    public virtual string Sum()
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

        /// <summary>The values of the previous run are garbage from here on.</summary>
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

    private sealed class Caller : Work
    {
        private readonly int length;
        private readonly Func<object> call;
        private object response;

        public Caller(int port, string operation, int count, byte[] message)
        {
            Kind = Client.KindOf(operation);
            length = message.Length;
            var sent = length == 0 ? null : Kind.Decode(message);
            call = Client.Calls(port, operation, count, sent);
        }

        /// <summary>The values of the previous call are garbage from here on.</summary>
        public override void Once()
        {
            response = null;
            response = call();
        }

        /// <summary>The checksum of values, of their number, or of nothing.</summary>
        public override string Sum()
        {
            if (response is Array)
            {
                return base.Sum();
            }
            var sum = new Checksum();
            if (response != null)
            {
                sum.Int((int)response);
            }
            return sum.Hex();
        }

        protected override object Values()
        {
            return response;
        }

        public override int Bytes
        {
            get { return length; }
        }

        public override byte[] Output()
        {
            throw new InvalidOperationException("a call has no output");
        }
    }
}
