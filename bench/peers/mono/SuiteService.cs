// The operations of suite.wsdl and suite-encoded.wsdl as a web service.

using System;
using System.Linq;
using System.Web.Services;
using System.Web.Services.Protocols;
using System.Xml.Schema;
using System.Xml.Serialization;

/// <summary>The message's element selects the operation: not all clients send the action.</summary>
[WebService(Namespace = Names.Bench)]
[SoapDocumentService(RoutingStyle = SoapServiceRoutingStyle.RequestElement)]
public class SuiteService : WebService
{
    /// <summary>Number of distinct strings if they repeat.</summary>
    private const int Different = 1000;

    [WebMethod]
    public void echoVoid()
    {
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public int[] echoInts([XmlElement("item", Form = XmlSchemaForm.Unqualified)] int[] item)
    {
        return item;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendInts([XmlElement("item", Form = XmlSchemaForm.Unqualified)] int[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public int[] receiveInts([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, i => i);
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public double[] echoDoubles([XmlElement("item", Form = XmlSchemaForm.Unqualified)] double[] item)
    {
        return item;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendDoubles([XmlElement("item", Form = XmlSchemaForm.Unqualified)] double[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public double[] receiveDoubles([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, i => Math.Sqrt(i));
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public string[] echoStrings([XmlElement("item", Form = XmlSchemaForm.Unqualified)] string[] item)
    {
        return item;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendStrings([XmlElement("item", Form = XmlSchemaForm.Unqualified)] string[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public string[] receiveStrings([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, Text);
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Mio[] echoMios([XmlElement("item", Form = XmlSchemaForm.Unqualified)] Mio[] item)
    {
        return item;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendMios([XmlElement("item", Form = XmlSchemaForm.Unqualified)] Mio[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Mio[] receiveMios([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, i => new Mio { x = i, y = i, v = Math.Sqrt(i) });
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Event[] echoEvents([XmlElement("item", Form = XmlSchemaForm.Unqualified)] Event[] item)
    {
        return item;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendEvents([XmlElement("item", Form = XmlSchemaForm.Unqualified)] Event[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [return: XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Event[] receiveEvents([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, i => new Event { id = i, value = Math.Sqrt(i), message = "Message #" + i });
    }

    [WebMethod]
    [return: XmlElement("data", Form = XmlSchemaForm.Unqualified, DataType = "base64Binary")]
    public byte[] echoBase64([XmlElement("data", Form = XmlSchemaForm.Unqualified, DataType = "base64Binary")] byte[] data)
    {
        return data;
    }

    [WebMethod]
    [return: XmlElement("count", Form = XmlSchemaForm.Unqualified)]
    public int sendBase64([XmlElement("data", Form = XmlSchemaForm.Unqualified, DataType = "base64Binary")] byte[] data)
    {
        return data.Length;
    }

    [WebMethod]
    [return: XmlElement("data", Form = XmlSchemaForm.Unqualified, DataType = "base64Binary")]
    public byte[] receiveBase64([XmlElement("count", Form = XmlSchemaForm.Unqualified)] int count)
    {
        return Items(count, i => (byte)(i - 1));
    }

    [WebMethod]
    [SoapRpcMethod("urn:bench#sendEncodedStrings", RequestNamespace = Names.Bench, ResponseNamespace = Names.Bench)]
    [return: SoapElement("count")]
    public int sendEncodedStrings(string[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [SoapRpcMethod("urn:bench#receiveEncodedStrings", RequestNamespace = Names.Bench, ResponseNamespace = Names.Bench)]
    [return: SoapElement("item")]
    public string[] receiveEncodedStrings(int count)
    {
        return Items(count, Text);
    }

    [WebMethod]
    [SoapRpcMethod("urn:bench#sendRepeatedStrings", RequestNamespace = Names.Bench, ResponseNamespace = Names.Bench)]
    [return: SoapElement("count")]
    public int sendRepeatedStrings(string[] item)
    {
        return item.Length;
    }

    [WebMethod]
    [SoapRpcMethod("urn:bench#receiveRepeatedStrings", RequestNamespace = Names.Bench, ResponseNamespace = Names.Bench)]
    [return: SoapElement("item")]
    public string[] receiveRepeatedStrings(int count)
    {
        var different = Items(Math.Min(count, Different), Text);
        return Items(count, i => different[(i - 1) % Different]);
    }

    /// <summary>Items for the numbers from 1 up.</summary>
    private static T[] Items<T>(int count, Func<int, T> item)
    {
        return Enumerable.Range(1, count).Select(item).ToArray();
    }

    private static string Text(int i)
    {
        return ("Message #" + i).PadRight(100, '.');
    }
}
