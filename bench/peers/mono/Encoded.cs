// Messages in SOAP encoding: an array of strings in an operation of suite-encoded.wsdl.

using System;
using System.IO;
using System.Text;
using System.Xml;
using System.Xml.Schema;
using System.Xml.Serialization;

/// <summary>A kind whose serializer is that of proxies and services for an encoded method; envelope
/// and body are written as they do.</summary>
public sealed class EncodedKind : Kind
{
    private const string Encoding = "http://schemas.xmlsoap.org/soap/encoding/";

    private readonly string operation;
    private readonly XmlSerializer serializer;
    private readonly XmlWriterSettings settings = new XmlWriterSettings { Encoding = new UTF8Encoding(false), CheckCharacters = false };

    public EncodedKind(string operation)
    {
        this.operation = operation;
        var item = new XmlReflectionMember { MemberName = "item", MemberType = typeof(string[]) };
        var mapping = new SoapReflectionImporter().ImportMembersMapping(operation, Names.Bench, new[] { item }, true, true);
        serializer = XmlSerializer.FromMappings(new XmlMapping[] { mapping })[0];
    }

    public override object Decode(byte[] message)
    {
        var read = new XmlReaderSettings { CheckCharacters = false, DtdProcessing = DtdProcessing.Prohibit };
        using (var reader = XmlReader.Create(new MemoryStream(message), read))
        {
            reader.ReadStartElement("Envelope", Names.Soap);
            reader.ReadStartElement("Body", Names.Soap);
            if (!reader.IsStartElement(operation, Names.Bench))
            {
                throw new FormatException(reader.Name + " is another operation");
            }
            return ((object[])serializer.Deserialize(reader))[0] ?? new string[0];
        }
    }

    public override void Encode(object values, Stream stream)
    {
        using (var writer = XmlWriter.Create(stream, settings))
        {
            writer.WriteStartElement("soap", "Envelope", Names.Soap);
            writer.WriteAttributeString("xmlns", "soapenc", null, Encoding);
            writer.WriteAttributeString("xmlns", "xsi", null, XmlSchema.InstanceNamespace);
            writer.WriteAttributeString("xmlns", "xsd", null, XmlSchema.Namespace);
            writer.WriteStartElement("Body", Names.Soap);
            writer.WriteAttributeString("encodingStyle", Names.Soap, Encoding);
            serializer.Serialize(writer, new object[] { values });
            writer.WriteEndElement();
            writer.WriteEndElement();
        }
    }

    public override void Sum(object values, Checksum sum)
    {
        foreach (var item in (string[])values)
        {
            sum.Text(item);
        }
    }
}
