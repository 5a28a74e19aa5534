// What the generated services do: they echo every kind of value, since what is in a request and in its response alike is a
// parameter for both, which stays what it is. Each generated class has `Count` where trace is called and `Fail` where fail is.

using System.Globalization;
using System.Linq;
using System.Web;
using System.Web.Services.Protocols;
using System.Xml;

static class Faults
{
    public static SoapException Of(string @namespace, string code)
    {
        var document = new XmlDocument();
        XmlNode detail = Detail(document);
        XmlNode failure = detail.AppendChild(document.CreateElement("t", "Failure", @namespace));
        int points = code.Length - code.Count(char.IsLowSurrogate);
        failure.AppendChild(document.CreateElement("code")).InnerText = code;
        failure.AppendChild(document.CreateElement("limit")).InnerText = points.ToString(CultureInfo.InvariantCulture);
        return new SoapException("this operation always fails", SoapException.ServerFaultCode, "", detail);
    }

    // It is written as it is made, so that the version of the request counts.
    static XmlNode Detail(XmlDocument document)
    {
        bool is12 = HttpContext.Current.Request.ContentType.Contains("soap+xml");
        if (is12) return document.CreateElement("soap", "Detail", "http://www.w3.org/2003/05/soap-envelope");
        return document.CreateElement(SoapException.DetailElementName.Name, SoapException.DetailElementName.Namespace);
    }
}

namespace Values.types
{
    public partial class Types
    {
        void Count()
        {
            if (TraceValue != null) TraceValue.hops += 1;
        }

        void Fail(string code)
        {
            throw Faults.Of("urn:types", code);
        }
    }

    // The tool takes a repeated element with a repeated element in it for an array of arrays, which the serializer then cannot write.
    public class Row
    {
        [System.Xml.Serialization.XmlElement(Form = System.Xml.Schema.XmlSchemaForm.Unqualified)]
        public int[] cell;
    }
}

namespace Values.encoded
{
    public partial class Encoded
    {
        void Count()
        {
            if (TraceValue != null) TraceValue.hops += 1;
        }

        void Fail(string code)
        {
            throw Faults.Of("urn:encoded", code);
        }
    }
}
