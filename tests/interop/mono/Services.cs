// The behaviour of the generated services: they echo every kind of value, since a value in both a
// request and its response is an in-out parameter, which stays unchanged. Other methods get their
// bodies from `xtask`; `fail` throws a fault from this file.

using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Web;
using System.Web.Services;
using System.Web.Services.Protocols;
using System.Xml;

static class Faults
{
    // Creates a fault in the namespace of the failing service.
    public static SoapException Of(WebService service, string code)
    {
        var document = new XmlDocument();
        XmlNode detail = Detail(document);
        string @namespace = service.GetType().GetCustomAttribute<WebServiceAttribute>().Namespace;
        XmlNode failure = detail.AppendChild(document.CreateElement("t", "Failure", @namespace));
        int points = code.Length - code.Count(char.IsLowSurrogate);
        failure.AppendChild(document.CreateElement("code")).InnerText = code;
        failure.AppendChild(document.CreateElement("limit")).InnerText = points.ToString(CultureInfo.InvariantCulture);
        return new SoapException("this operation always fails", SoapException.ServerFaultCode, "", detail);
    }

    // The element is serialized unchanged, so it must match the version of the request.
    static XmlNode Detail(XmlDocument document)
    {
        bool is12 = HttpContext.Current.Request.ContentType.Contains("soap+xml");
        if (is12) return document.CreateElement("soap", "Detail", "http://www.w3.org/2003/05/soap-envelope");
        return document.CreateElement(SoapException.DetailElementName.Name, SoapException.DetailElementName.Namespace);
    }
}

namespace Values.types
{
    // The tool takes a repeated element within a repeated element for an array of arrays, which the
    // serializer cannot write.
    public class Row
    {
        [System.Xml.Serialization.XmlElement(Form = System.Xml.Schema.XmlSchemaForm.Unqualified)]
        public int[] cell;
    }
}
