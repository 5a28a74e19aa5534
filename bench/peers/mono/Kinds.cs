// The kinds of workloads: how XmlSerializer reads and writes their values, and their checksums.

using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Serialization;

/// <summary>A kind such as <c>ints</c>; values are arrays.</summary>
public abstract class Kind
{
    /// <summary>Returns the values of a message; fails if it is not of this kind.</summary>
    public abstract object Decode(byte[] message);

    /// <summary>Writes the complete message.</summary>
    public abstract void Encode(object values, Stream stream);

    public abstract void Sum(object values, Checksum sum);

    /// <summary>The composite types used so far, by name.</summary>
    private static readonly Dictionary<string, Kind> Composites = new Dictionary<string, Kind>();

    /// <summary>The composite type of a message, by its element; each is a kind.</summary>
    public static Kind CompositeIn(byte[] message)
    {
        var found = Regex.Match(Encoding.UTF8.GetString(message), @":send(I\d+D\d+S\d+)");
        Func<Kind> make;
        if (!found.Success || !CompositeKinds.All.TryGetValue(found.Groups[1].Value, out make))
        {
            throw new ArgumentException("unknown composite type " + found.Groups[1].Value);
        }
        Kind kind;
        if (!Composites.TryGetValue(found.Groups[1].Value, out kind))
        {
            kind = Composites[found.Groups[1].Value] = make();
        }
        return kind;
    }

    public static readonly Dictionary<string, Kind> All = new Dictionary<string, Kind>
    {
        { "ints", Ints() },
        { "easy", Doubles() },
        { "hard", Doubles() },
        { "strings", Strings() },
        { "structs", Mios() },
        { "events", Events() },
        { "base64", Base64() },
        { "doubles64", Doubles64() },
        { "encoded", new EncodedKind("sendEncodedStrings") },
        { "repeated", new EncodedKind("sendRepeatedStrings") },
    };

    private static Kind Ints()
    {
        return new Kind<IntsBody, int>(
            body => body.Operation.Item, items => new IntsBody { Operation = new Ints { Item = items } }, (item, sum) => sum.Int(item));
    }

    private static Kind Doubles()
    {
        return new Kind<DoublesBody, double>(
            body => body.Operation.Item, items => new DoublesBody { Operation = new Doubles { Item = items } }, (item, sum) => sum.Double(item));
    }

    private static Kind Strings()
    {
        return new Kind<StringsBody, string>(
            body => body.Operation.Item, items => new StringsBody { Operation = new Strings { Item = items } }, (item, sum) => sum.Text(item));
    }

    private static Kind Mios()
    {
        return new Kind<MiosBody, Mio>(
            body => body.Operation.Item,
            items => new MiosBody { Operation = new Mios { Item = items } },
            (item, sum) =>
            {
                sum.Int(item.x);
                sum.Int(item.y);
                sum.Double(item.v);
            });
    }

    private static Kind Events()
    {
        return new Kind<EventsBody, Event>(
            body => body.Operation.Item,
            items => new EventsBody { Operation = new Events { Item = items } },
            (item, sum) =>
            {
                sum.Int(item.id);
                sum.Double(item.value);
                sum.Text(item.message);
            });
    }

    private static Kind Base64()
    {
        return new Kind<DataBody, byte>(
            body => body.Operation.Octets, octets => new DataBody { Operation = new Data { Octets = octets } }, (item, sum) => sum.Octet(item));
    }

    private static Kind Doubles64()
    {
        return new Kind<DataBody, double>(
            body => Bits.Doubles(body.Operation.Octets),
            doubles => new DataBody { Operation = new Data { Octets = Bits.Octets(doubles) } },
            (item, sum) => sum.Double(item));
    }
}

/// <summary>A kind whose message has a <c>TBody</c>, and whose values are <c>TItem</c>s.</summary>
public sealed class Kind<TBody, TItem> : Kind
{
    private readonly XmlSerializer serializer = new XmlSerializer(typeof(Envelope<TBody>));
    private readonly XmlSerializerNamespaces namespaces = new XmlSerializerNamespaces();
    private readonly XmlWriterSettings settings = new XmlWriterSettings { Encoding = new UTF8Encoding(false), CheckCharacters = false };
    private readonly Func<TBody, TItem[]> open;
    private readonly Func<TItem[], TBody> close;
    private readonly Action<TItem, Checksum> add;

    public Kind(Func<TBody, TItem[]> open, Func<TItem[], TBody> close, Action<TItem, Checksum> add)
    {
        this.open = open;
        this.close = close;
        this.add = add;
        namespaces.Add("soap", Names.Soap);
        namespaces.Add("ns", Names.Bench);
    }

    public override object Decode(byte[] message)
    {
        var read = new XmlReaderSettings { CheckCharacters = false, DtdProcessing = DtdProcessing.Prohibit };
        using (var reader = XmlReader.Create(new MemoryStream(message), read))
        {
            var envelope = (Envelope<TBody>)serializer.Deserialize(reader);
            // Without the operation's element there is nothing to open.
            return open(envelope.Body) ?? new TItem[0];
        }
    }

    public override void Encode(object values, Stream stream)
    {
        using (var writer = XmlWriter.Create(stream, settings))
        {
            serializer.Serialize(writer, new Envelope<TBody> { Body = close((TItem[])values) }, namespaces);
        }
    }

    public override void Sum(object values, Checksum sum)
    {
        foreach (var item in (TItem[])values)
        {
            add(item, sum);
        }
    }
}

/// <summary>Doubles as the octets of IEEE 754, little-endian like every machine that runs
/// this.</summary>
public static class Bits
{
    public static double[] Doubles(byte[] octets)
    {
        if (octets.Length % sizeof(double) != 0)
        {
            throw new FormatException("these are no doubles");
        }
        var doubles = new double[octets.Length / sizeof(double)];
        Buffer.BlockCopy(octets, 0, doubles, 0, octets.Length);
        return doubles;
    }

    public static byte[] Octets(double[] doubles)
    {
        var octets = new byte[doubles.Length * sizeof(double)];
        Buffer.BlockCopy(doubles, 0, octets, 0, octets.Length);
        return octets;
    }
}

/// <summary>FNV-1a (64 bits) over values, as PROTOCOL.md defines it.</summary>
public sealed class Checksum
{
    private ulong state = 0xcbf29ce484222325;

    public void Octet(byte octet)
    {
        state = unchecked((state ^ octet) * 0x100000001b3);
    }

    public void Int(int value)
    {
        Octets(BitConverter.GetBytes(value));
    }

    public void Double(double value)
    {
        Octets(BitConverter.GetBytes(value));
    }

    /// <summary>A missing string counts as an empty one.</summary>
    public void Text(string value)
    {
        var octets = Encoding.UTF8.GetBytes(value ?? "");
        Int(octets.Length);
        Octets(octets);
    }

    public string Hex()
    {
        return state.ToString("x16");
    }

    private void Octets(byte[] octets)
    {
        foreach (var octet in octets)
        {
            Octet(octet);
        }
    }
}
