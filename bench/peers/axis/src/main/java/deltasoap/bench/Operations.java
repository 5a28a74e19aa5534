package deltasoap.bench;

import java.util.ArrayList;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.axis.Constants;
import org.apache.axis.constants.Style;
import org.apache.axis.constants.Use;
import org.apache.axis.description.OperationDesc;
import org.apache.axis.description.ParameterDesc;

/**
 * The operations of suite.wsdl and suite-encoded.wsdl for Axis; an array is a repeated element, or
 * an array in SOAP encoding.
 */
final class Operations {
    private static final List<String> ENCODED = List.of("EncodedStrings", "RepeatedStrings");

    /** Returns all operations. */
    static final List<String> NAMES = names();

    private Operations() {
    }

    private static List<String> names() {
        List<String> names = new ArrayList<>(List.of("echoVoid"));
        for (String items : new String[] {"Ints", "Doubles", "Strings", "Mios", "Events", "Base64"}) {
            names.addAll(List.of("echo" + items, "send" + items, "receive" + items));
        }
        for (String items : ENCODED) {
            names.addAll(List.of("send" + items, "receive" + items));
        }
        return names;
    }

    /** Returns true if an operation is in SOAP encoding. */
    static boolean isEncoded(String name) {
        return ENCODED.stream().anyMatch(name::endsWith);
    }

    /** Returns the operations in SOAP encoding: an array is one parameter. */
    static List<OperationDesc> encoded() {
        List<OperationDesc> all = new ArrayList<>();
        for (String items : ENCODED) {
            ParameterDesc count = parameter("count", Constants.XSD_INT, int.class);
            all.add(encoded(operation("send" + items, strings(), count)));
            all.add(encoded(operation("receive" + items, count, strings())));
        }
        return all;
    }

    private static ParameterDesc strings() {
        return parameter("item", Constants.SOAP_ARRAY, String[].class);
    }

    private static OperationDesc encoded(OperationDesc described) {
        described.setStyle(Style.RPC);
        described.setUse(Use.ENCODED);
        return described;
    }

    /** Returns the operations of a type of items. */
    static List<OperationDesc> of(String items, QName type, Class<?> array) {
        String element = items.equals("Base64") ? "data" : "item";
        ParameterDesc sent = parameter(element, type, array);
        ParameterDesc count = parameter("count", Constants.XSD_INT, int.class);
        return List.of(
                operation("echo" + items, sent, parameter(element, type, array)),
                operation("send" + items, sent, count),
                operation("receive" + items, count, parameter(element, type, array)));
    }

    static OperationDesc echoVoid() {
        OperationDesc described = operation("echoVoid", null, null);
        described.setReturnType(Constants.XSD_ANYTYPE);
        described.setReturnClass(void.class);
        return described;
    }

    private static ParameterDesc parameter(String name, QName type, Class<?> javaType) {
        ParameterDesc described = new ParameterDesc(new QName("", name), ParameterDesc.IN, type, javaType, false, false);
        described.setNillable(false);
        return described;
    }

    private static OperationDesc operation(String name, ParameterDesc sent, ParameterDesc returned) {
        OperationDesc described = new OperationDesc(name, sent == null ? new ParameterDesc[0] : new ParameterDesc[] {sent}, null);
        described.setElementQName(new QName(Beans.NAMESPACE, name));
        described.setStyle(Style.WRAPPED);
        described.setUse(Use.LITERAL);
        if (returned != null) {
            described.setReturnQName(returned.getQName());
            described.setReturnType(returned.getTypeQName());
            described.setReturnClass(returned.getJavaType());
            described.getReturnParamDesc().setNillable(false);
        }
        return described;
    }
}
