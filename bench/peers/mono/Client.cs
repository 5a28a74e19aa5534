// Calls of the operations of suite.wsdl and suite-encoded.wsdl by the proxies that are generated
// from them.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Threading;
using System.Web.Services.Protocols;

public static class Client
{
    /// <summary>The kinds of values, by the names of the items in the operations.</summary>
    private static readonly Dictionary<string, string> Kinds = new Dictionary<string, string>
    {
        { "Ints", "ints" },
        { "Doubles", "easy" },
        { "Strings", "strings" },
        { "Mios", "structs" },
        { "Events", "events" },
        { "Base64", "base64" },
        { "EncodedStrings", "encoded" },
        { "RepeatedStrings", "repeated" },
    };

    /// <summary>Every operation; the server supports the same. There are no echoes in SOAP
    /// encoding.</summary>
    public static readonly string[] Operations = new[] { "echoVoid" }.Concat(Kinds.Keys.SelectMany(OperationsOf)).ToArray();

    private static IEnumerable<string> OperationsOf(string items)
    {
        var actions = items.EndsWith("edStrings") ? new[] { "send", "receive" } : new[] { "echo", "send", "receive" };
        return actions.Select(action => action + items);
    }

    /// <summary>The kind of an operation's values; null if it has none.</summary>
    public static Kind KindOf(string operation)
    {
        if (!Operations.Contains(operation))
        {
            throw new ArgumentException("unknown operation " + operation);
        }
        return Kinds.Where(entry => OperationsOf(entry.Key).Contains(operation)).Select(entry => Kind.All[entry.Value]).FirstOrDefault();
    }

    /// <summary>A repeatable call that returns the content of the response. It sends values, or a
    /// number, or nothing.</summary>
    public static Func<object> Calls(int port, string operation, int count, object values)
    {
        var suite = Ready(new Suite(), port);
        var encoded = Ready(new SuiteEncoded(), port);
        switch (operation)
        {
            case "echoVoid": return () =>
            {
                suite.echoVoid();
                return null;
            };
            case "echoInts": return Echo<int>(suite.echoInts, values);
            case "echoDoubles": return Echo<double>(suite.echoDoubles, values);
            case "echoStrings": return Echo<string>(suite.echoStrings, values);
            case "echoMios": return Echo<Mio>(suite.echoMios, values);
            case "echoEvents": return Echo<Event>(suite.echoEvents, values);
            case "echoBase64": return Echo<byte>(suite.echoBase64, values);
            case "sendInts": return () => suite.sendInts((int[])values);
            case "sendDoubles": return () => suite.sendDoubles((double[])values);
            case "sendStrings": return () => suite.sendStrings((string[])values);
            case "sendMios": return () => suite.sendMios((Mio[])values);
            case "sendEvents": return () => suite.sendEvents((Event[])values);
            case "sendBase64": return () => suite.sendBase64((byte[])values);
            case "receiveInts": return () => suite.receiveInts(count);
            case "receiveDoubles": return () => suite.receiveDoubles(count);
            case "receiveStrings": return () => suite.receiveStrings(count);
            case "receiveMios": return () => suite.receiveMios(count);
            case "receiveEvents": return () => suite.receiveEvents(count);
            case "receiveBase64": return () => suite.receiveBase64(count);
            case "sendEncodedStrings": return () => encoded.sendEncodedStrings((string[])values);
            case "sendRepeatedStrings": return () => encoded.sendRepeatedStrings((string[])values);
            case "receiveEncodedStrings": return () => encoded.receiveEncodedStrings(count);
            case "receiveRepeatedStrings": return () => encoded.receiveRepeatedStrings(count);
            default: throw new ArgumentException("unknown operation " + operation);
        }
    }

    /// <summary>A proxy that sends at once: without Expect: 100-continue and Nagle's
    /// algorithm.</summary>
    private static T Ready<T>(T proxy, int port) where T : SoapHttpClientProtocol
    {
        ServicePointManager.Expect100Continue = false;
        ServicePointManager.UseNagleAlgorithm = false;
        proxy.Url = "http://127.0.0.1:" + port + "/bench";
        proxy.Proxy = new WebProxy();
        proxy.Timeout = Timeout.Infinite;
        return proxy;
    }

    /// <summary>One parameter is both sent and received.</summary>
    private delegate void Operation<T>(ref T[] items);

    private static Func<object> Echo<T>(Operation<T> operation, object values)
    {
        return () =>
        {
            var items = (T[])values;
            operation(ref items);
            return items;
        };
    }
}
