package deltasoap.interop;

import static java.util.Map.entry;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import javax.xml.namespace.QName;
import org.apache.axis.AxisEngine;
import org.apache.axis.client.Stub;
import org.apache.axis.message.MessageElement;
import org.apache.axis.message.SOAPHeaderElement;

/**
 * Fetches every case of one service from our server, and sends it back to be checked, with the stub
 * that Axis has generated.
 */
final class Tests {
    private final String style;
    private final String namespace;
    private final Stub stub;

    Tests(String style, String namespace, Stub stub) {
        this.style = style;
        this.namespace = namespace;
        this.stub = stub;
    }

    void run() throws Exception {
        Object cases = call("cases");
        for (int n = 0; n < Array.getLength(cases); n++) {
            Object one = Array.get(cases, n);
            String kind = (String) get(one, "kind");
            String name = (String) get(one, "name");
            test((String) get(one, "feature"), name, () -> check(kind, name));
        }
        if (style.equals("encoded")) {
            test("references", "a tree without references", () -> checkWithoutReferences("Graph", "a tree"));
            test("arrays", "arrays without references", () -> checkWithoutReferences("Arrays", "arrays of many items"));
        }
        test("headers", "a header block", () -> trace(true));
        test("headers", "no header block", () -> trace(false));
        for (String code : new String[] {"quota", "<a & b> \u6f22\u5b57"}) {
            test("faults", "a typed fault, code " + code, () -> fail(code));
        }
    }

    /** References are on by default. */
    private void checkWithoutReferences(String kind, String name) throws Exception {
        stub._setProperty(AxisEngine.PROP_DOMULTIREFS, Boolean.FALSE);
        try {
            check(kind, name);
        } finally {
            stub._setProperty(AxisEngine.PROP_DOMULTIREFS, Boolean.TRUE);
        }
    }

    private void check(String kind, String name) throws Exception {
        String problem = (String) call("check" + kind, name, call("sample" + kind, name));
        expect(problem == null ? "" : problem, "");
    }

    private void trace(boolean sends) throws Exception {
        stub.clearHeaders();
        if (sends) {
            SOAPHeaderElement block = new SOAPHeaderElement(namespace, "Trace");
            block.addChildElement(part("id", "abc <1>"));
            block.addChildElement(part("hops", "41"));
            stub.setHeader(block);
        }
        call("trace");
        stub.clearHeaders();
        SOAPHeaderElement answer = stub.getResponseHeader(namespace, "Trace");
        expect(answer == null ? "none" : text(answer, "id") + text(answer, "hops"), sends ? "abc <1>42" : "none");
    }

    static MessageElement part(String name, String text) throws Exception {
        MessageElement part = new MessageElement(new QName(name));
        part.addTextNode(text);
        return part;
    }

    private static String text(SOAPHeaderElement block, String name) {
        return block.getChildElement(new QName(name)).getValue();
    }

    private void fail(String code) throws Exception {
        try {
            call("fail", code);
        } catch (org.apache.axis.AxisFault fault) {
            expect(get(fault, "code") + " " + get(fault, "limit"), code + " " + code.codePointCount(0, code.length()));
            return;
        }
        throw new AssertionError("expected a fault, got a response");
    }

    private Object call(String operation, Object... arguments) throws Exception {
        for (Method method : stub.getClass().getMethods()) {
            if (method.getName().equals(operation) && method.getParameterCount() == arguments.length) {
                return invoke(method, stub, arguments);
            }
        }
        throw new AssertionError("no operation " + operation);
    }

    private static Object get(Object bean, String name) throws Exception {
        String getter = "get" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        return invoke(bean.getClass().getMethod(getter), bean);
    }

    private static Object invoke(Method method, Object target, Object... arguments) throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause() instanceof Exception cause ? cause : error;
        }
    }

    private static void expect(String actual, String expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    private interface Test {
        void run() throws Exception;
    }

    private static final String PARTIAL = "omitted numbers are null, which an array of numbers cannot hold";

    /** What Axis does not offer, and why. */
    private static final Map<String, String> LACKS = Map.ofEntries(
            entry("primitives/smallest fractions", "decimals are written with exponents"),
            entry("primitives/parts of a date", "it uses the form of months from before the erratum, --11--"),
            entry("primitives/texts of many scripts", "characters beyond the first 65,536 are written as two references"),
            entry("choice/repeated branches in their order", "elements with one name become one array: their order is lost"),
            entry("nil/all is nil", "absent values are written as nil"),
            entry("arrays/two dimensions", "two-dimensional arrays are taken for arrays of arrays"),
            entry("arrays/a single column", "two-dimensional arrays are taken for arrays of arrays"),
            entry("polymorphism/items of any type", "all items of such an array are taken to have the type of the first"),
            entry("sparse/a partially transmitted array", PARTIAL),
            entry("sparse/both", PARTIAL));

    private void test(String feature, String name, Test test) {
        String detail = "";
        String lack = LACKS.get(feature + "/" + name);
        try {
            if (lack == null) {
                test.run();
            }
        } catch (Exception | AssertionError error) {
            detail = error.toString();
        }
        String[] fields = {"soap", "1.1", "feature", style + " " + feature, "test", name, "detail", detail};
        String line = String.join(", ", pairs(Arrays.stream(fields).map(Tests::quoted).toArray(String[]::new)));
        String skipped = lack == null ? "" : ", \"skipped\": " + quoted(lack);
        System.out.println("{" + line + ", \"ok\": " + detail.isEmpty() + skipped + "}");
    }

    private static String[] pairs(String[] fields) {
        String[] pairs = new String[fields.length / 2];
        Arrays.setAll(pairs, n -> fields[2 * n] + ": " + fields[2 * n + 1]);
        return pairs;
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        String shortened = text.length() > 600 ? text.substring(0, 600) : text;
        for (char unit : shortened.toCharArray()) {
            boolean isPlain = unit >= ' ' && unit < 0x7f && unit != '"' && unit != '\\';
            quoted.append(isPlain ? String.valueOf(unit) : String.format("\\u%04x", (int) unit));
        }
        return quoted.append('"').toString();
    }
}
