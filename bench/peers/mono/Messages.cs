// The messages as classes for XmlSerializer: envelope, body and operation. Those of items, `Mio`
// and `Event`, are generated.

using System;
using System.Xml.Schema;
using System.Xml.Serialization;

public static class Names
{
    public const string Soap = "http://schemas.xmlsoap.org/soap/envelope/";
    public const string Bench = "urn:bench";
}

/// <summary>An envelope with a body of one operation.</summary>
[XmlRoot("Envelope", Namespace = Names.Soap)]
public class Envelope<TBody>
{
    [XmlElement("Body", Namespace = Names.Soap)]
    public TBody Body;
}

public class IntsBody
{
    [XmlElement("sendInts", Namespace = Names.Bench)]
    public Ints Operation;
}

public class DoublesBody
{
    [XmlElement("sendDoubles", Namespace = Names.Bench)]
    public Doubles Operation;
}

public class StringsBody
{
    [XmlElement("sendStrings", Namespace = Names.Bench)]
    public Strings Operation;
}

public class MiosBody
{
    [XmlElement("sendMios", Namespace = Names.Bench)]
    public Mios Operation;
}

public class EventsBody
{
    [XmlElement("sendEvents", Namespace = Names.Bench)]
    public Events Operation;
}

public class DataBody
{
    [XmlElement("sendBase64", Namespace = Names.Bench)]
    public Data Operation;
}

public class Ints
{
    [XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public int[] Item = new int[0];
}

public class Doubles
{
    [XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public double[] Item = new double[0];
}

public class Strings
{
    [XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public string[] Item = new string[0];
}

public class Mios
{
    [XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Mio[] Item = new Mio[0];
}

public class Events
{
    [XmlElement("item", Form = XmlSchemaForm.Unqualified)]
    public Event[] Item = new Event[0];
}

public class Data
{
    [XmlElement("data", Form = XmlSchemaForm.Unqualified, DataType = "base64Binary")]
    public byte[] Octets = new byte[0];
}
