package deltasoap.interop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.xml.namespace.QName;
import javax.xml.parsers.DocumentBuilderFactory;

import org.apache.cxf.endpoint.Client;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.headers.Header;
import org.apache.cxf.message.Message;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import types.Case;
import types.Failure_Exception;
import types.Types;
import types.Types_Service;

/**
 * Fetches every case of the service /types from our server with CXF, and sends it back to be
 * checked.
 *
 * <p>Arguments: the URLs of /types and /encoded. Prints one JSON object per test;
 * tests/interop/README.md documents it.
 */
public final class Values {
    private static final QName TRACE = new QName("urn:types", "Trace");

    private final Types port;

    private Values(Types port) {
        this.port = port;
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        // The default limit is 50,000 child elements.
        System.setProperty("org.apache.cxf.stax.maxChildElements", "1000000");
        Types_Service service = new Types_Service(URI.create(arguments[0] + "?wsdl").toURL());
        new Values(service.getSoap11()).tests().run("1.1");
        new Values(service.getSoap12()).tests().run("1.2");
    }

    private Tests<Void> tests() throws Exception {
        Tests<Void> tests = new Tests<>();
        for (Case one : port.cases()) {
            add(tests, "literal " + one.getFeature(), one.getName(), () -> check(one.getKind(), one.getName()));
        }
        add(tests, "literal headers", "a header block", () -> trace(true));
        add(tests, "literal headers", "no header block", () -> trace(false));
        for (String code : List.of("quota", "<a & b> 漢字")) {
            add(tests, "literal faults", "a typed fault, code " + code, () -> fail(code));
        }
        for (String name : List.of("texts", "texts of many scripts")) {
            add(tests, "literal utf-16", name + " in a request", () -> checkInUtf16(name));
        }
        return tests;
    }

    private interface Test {
        void run() throws Exception;
    }

    private static void add(Tests<Void> tests, String feature, String name, Test test) {
        tests.add(feature, name, endpoint -> test.run());
    }

    private void check(String kind, String name) throws Exception {
        Tests.expect(call("check" + kind, name, call("sample" + kind, name)), "", "problem");
    }

    private void checkInUtf16(String name) throws Exception {
        client().getRequestContext().put(Message.ENCODING, "UTF-16");
        try {
            check("Texts", name);
        } finally {
            client().getRequestContext().remove(Message.ENCODING);
        }
    }

    private void trace(boolean sends) throws Exception {
        List<Header> blocks = List.of(new Header(TRACE, block()));
        client().getRequestContext().put(Header.HEADER_LIST, sends ? blocks : List.of());
        port.trace();
        client().getRequestContext().remove(Header.HEADER_LIST);
        List<?> answered = (List<?>) client().getResponseContext().get(Header.HEADER_LIST);
        String text = answered == null || answered.isEmpty() ? "none" : text((Header) answered.get(0));
        Tests.expect(text, sends ? "abc <1>42" : "none", "header block");
    }

    private static Element block() throws Exception {
        Document document = DocumentBuilderFactory.newNSInstance().newDocumentBuilder().newDocument();
        Element block = document.createElementNS(TRACE.getNamespaceURI(), "t:" + TRACE.getLocalPart());
        block.appendChild(document.createElementNS(null, "id")).setTextContent("abc <1>");
        block.appendChild(document.createElementNS(null, "hops")).setTextContent("41");
        return block;
    }

    private static String text(Header block) {
        return ((Element) block.getObject()).getTextContent();
    }

    private void fail(String code) {
        try {
            port.fail(code);
        } catch (Failure_Exception fault) {
            String detail = fault.getFaultInfo().getCode() + " " + fault.getFaultInfo().getLimit();
            Tests.expect(detail, code + " " + code.codePointCount(0, code.length()), "detail");
            return;
        }
        throw new Tests.AssertionFailure("expected a fault, got a response");
    }

    private Object call(String operation, Object... arguments) throws Exception {
        for (Method method : Types.class.getMethods()) {
            if (method.getName().equals(operation)) {
                return invoke(method, arguments);
            }
        }
        throw new Tests.AssertionFailure("no operation " + operation);
    }

    private Object invoke(Method method, Object... arguments) throws Exception {
        try {
            return method.invoke(port, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        }
    }

    private Client client() {
        return ClientProxy.getClient(port);
    }
}
