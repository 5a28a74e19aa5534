package deltasoap.bench;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.xmlpull.v1.builder.XmlElement;
import xsul.processor.soap_over_http.SoapHttpDynamicInfosetProcessor;

/**
 * The operations of suite.wsdl: from an element that XSUL has read to one that it writes, through
 * arrays.
 */
final class SuiteService extends SoapHttpDynamicInfosetProcessor {
    /** All operations. */
    static final List<String> OPERATIONS = operations();

    private static List<String> operations() {
        List<String> names = new ArrayList<>(List.of("echoVoid"));
        for (String items : List.of("Ints", "Doubles", "Strings", "Mios", "Events", "Base64")) {
            names.addAll(List.of("echo" + items, "send" + items, "receive" + items));
        }
        return names;
    }

    @Override
    public XmlElement processMessage(XmlElement request) {
        String operation = request.getName();
        if (!OPERATIONS.contains(operation)) {
            throw new IllegalArgumentException("no operation " + operation);
        }
        String kind = Toolkit.kind(operation);
        XmlElement response = Values.element(operation + "Response");
        if (operation.startsWith("receive")) {
            Values.write(kind, made(kind, Values.readCount(request)), response);
        } else if (operation.startsWith("send")) {
            Values.writeCount(Array.getLength(Values.read(kind, request)), response);
        } else if (!kind.isEmpty()) {
            Values.write(kind, Values.read(kind, request), response);
        }
        return response;
    }

    /** Returns items for the numbers from 1 up. */
    private static Object made(String kind, int count) {
        IntStream numbers = IntStream.rangeClosed(1, count);
        return switch (kind) {
            case "ints" -> numbers.toArray();
            case "hard" -> numbers.mapToDouble(Math::sqrt).toArray();
            case "strings" -> items(numbers, SuiteService::text, String[]::new);
            case "structs" -> items(numbers, i -> new Values.Mio(i, i, Math.sqrt(i)), Values.Mio[]::new);
            case "events" -> items(numbers, i -> new Values.Event(i, Math.sqrt(i), "Message #" + i), Values.Event[]::new);
            default -> octets(count);
        };
    }

    private static <T> T[] items(IntStream numbers, IntFunction<T> item, IntFunction<T[]> array) {
        return numbers.mapToObj(item).toArray(array);
    }

    private static String text(int i) {
        String text = "Message #" + i;
        return text + ".".repeat(100 - text.length());
    }

    private static byte[] octets(int count) {
        byte[] octets = new byte[count];
        for (int i = 0; i < count; i++) {
            octets[i] = (byte) i;
        }
        return octets;
    }
}
