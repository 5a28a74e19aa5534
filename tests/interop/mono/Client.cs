// Fetches every case of the services /types and /encoded from our server, and sends it back to be
// checked, with Mono's implementation of .NET's web services.
//
//     Client.exe TYPES-URL ENCODED-URL
//
// Prints one JSON object per test; tests/interop/README.md documents it.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Web.Services.Protocols;

class Tests
{
    // What Mono does not offer, and why: features, or single tests of one.
    static readonly Dictionary<string, string> Lacks = new Dictionary<string, string>
    {
        { "encoded polymorphism/items of any type", "it does not support arrays of xsd:anySimpleType" },
        { "encoded arrays/an array of arrays", "arrays of arrays are decoded only if their type is given" },
        { "encoded arrays/empty arrays in an array", "arrays of arrays are decoded only if their type is given" },
        { "encoded arrays/two dimensions", "two-dimensional arrays are refused" },
        { "encoded arrays/a single column", "two-dimensional arrays are refused" },
        { "encoded sparse", "items are put at the beginning, whatever their positions" },
        { "encoded headers/a header block", "a header block of an answer in SOAP encoding is not found" },
    };

    readonly string style;
    readonly string version;
    readonly SoapHttpClientProtocol proxy;

    Tests(string style, string version, SoapHttpClientProtocol proxy, string url)
    {
        this.style = style;
        this.version = version;
        this.proxy = proxy;
        proxy.Url = url;
        proxy.SoapVersion = version == "1.1" ? SoapProtocolVersion.Soap11 : SoapProtocolVersion.Soap12;
    }

    static void Main(string[] arguments)
    {
        new Tests("literal", "1.1", new Values.types.Types(), arguments[0]).Run();
        new Tests("literal", "1.2", new Values.types12.Types(), arguments[0]).Run();
        new Tests("encoded", "1.1", new Values.encoded.Encoded(), arguments[1]).Run();
    }

    void Run()
    {
        foreach (object one in (IEnumerable) Call("cases"))
        {
            string kind = (string) Get(one, "kind"), name = (string) Get(one, "name");
            Test((string) Get(one, "feature"), name, () => Check(kind, name));
        }
        Test("headers", "a header block", () => Trace(true));
        Test("headers", "no header block", () => Trace(false));
        foreach (string code in new[] { "quota", "<a & b> \u6f22\u5b57" })
        {
            Test("faults", "a typed fault, code " + code, () => Fail(code));
        }
        if (style == "literal")
        {
            proxy.RequestEncoding = Encoding.Unicode;
            foreach (string name in new[] { "texts", "texts of many scripts" })
            {
                Test("utf-16", name + " in a request", () => Check("Texts", name));
            }
        }
    }

    void Check(string kind, string name)
    {
        object value = Call("sample" + kind, name);
        Expect((string) Call("check" + kind, name, value), "");
    }

    /// The header block is a member of the proxy.
    void Trace(bool sends)
    {
        MemberInfo member = proxy.GetType().GetMembers().First(it => it.Name.StartsWith("Trace") && !(it is Type));
        PropertyInfo property = member as PropertyInfo;
        FieldInfo field = member as FieldInfo;
        Type type = property != null ? property.PropertyType : field.FieldType;
        object block = null;
        if (sends)
        {
            block = Activator.CreateInstance(type);
            type.GetProperty("id").SetValue(block, "abc <1>");
            type.GetProperty("hops").SetValue(block, 41);
        }
        if (property != null) property.SetValue(proxy, block);
        else field.SetValue(proxy, block);
        Call("trace");
        object answer = property != null ? property.GetValue(proxy) : field.GetValue(proxy);
        if (sends) Expect(Get(answer, "id") + " " + Get(answer, "hops"), "abc <1> 42");
        else if (answer != null) throw new Exception("a header block has come");
    }

    void Fail(string code)
    {
        try
        {
            Call("fail", code);
        }
        catch (SoapException fault)
        {
            int points = code.Length - code.Count(char.IsLowSurrogate);
            var failure = fault.Detail.ChildNodes.Cast<System.Xml.XmlNode>().First(node => node.LocalName == "Failure");
            Expect(failure["code"].InnerText + " " + failure["limit"].InnerText, code + " " + points);
            return;
        }
        throw new Exception("expected a fault, got a response");
    }

    object Call(string operation, params object[] arguments)
    {
        MethodInfo method = proxy.GetType().GetMethod(operation);
        try
        {
            return method.Invoke(proxy, arguments);
        }
        catch (TargetInvocationException error)
        {
            throw error.InnerException;
        }
    }

    static object Get(object value, string name)
    {
        return value.GetType().GetProperty(name).GetValue(value);
    }

    static void Expect(string actual, string expected)
    {
        if ((actual ?? "") != expected) throw new Exception("expected " + expected + ", got " + actual);
    }

    void Test(string feature, string name, Action run)
    {
        feature = style + " " + feature;
        string reason, detail = "";
        bool isLacking = Lacks.TryGetValue(feature, out reason) || Lacks.TryGetValue(feature + "/" + name, out reason);
        try
        {
            if (!isLacking) run();
        }
        catch (Exception error)
        {
            detail = error.GetType().Name + ": " + error.Message + (error.InnerException == null ? "" : ": " + error.InnerException.Message);
        }
        string line = "{\"soap\": " + Quoted(version) + ", \"feature\": " + Quoted(feature) + ", \"test\": " + Quoted(name);
        line += ", \"ok\": " + (detail == "" ? "true" : "false") + ", \"detail\": " + Quoted(detail);
        Console.WriteLine(line + (isLacking ? ", \"skipped\": " + Quoted(reason) : "") + "}");
    }

    static string Quoted(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char unit in text.Length > 600 ? text.Substring(0, 600) : text)
        {
            bool isPlain = unit >= ' ' && unit < 0x7f && unit != '"' && unit != '\\';
            quoted.Append(isPlain ? unit.ToString() : string.Format("\\u{0:x4}", (int) unit));
        }
        return quoted.Append('"').ToString();
    }
}

// The tool takes a repeated element within a repeated element for an array of arrays, which the
// serializer cannot write.
namespace Values.types
{
    public class Row
    {
        [System.Xml.Serialization.XmlElement(Form = System.Xml.Schema.XmlSchemaForm.Unqualified)]
        public int[] cell;
    }
}

namespace Values.types12
{
    public class Row
    {
        [System.Xml.Serialization.XmlElement(Form = System.Xml.Schema.XmlSchemaForm.Unqualified)]
        public int[] cell;
    }
}
