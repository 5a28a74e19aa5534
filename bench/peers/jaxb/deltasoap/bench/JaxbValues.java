package deltasoap.bench;

import deltasoap.bench.suite.Base64;
import deltasoap.bench.suite.Doubles;
import deltasoap.bench.suite.Event;
import deltasoap.bench.suite.Events;
import deltasoap.bench.suite.Ints;
import deltasoap.bench.suite.Mio;
import deltasoap.bench.suite.Mios;
import deltasoap.bench.suite.Strings;
import jakarta.xml.bind.JAXBElement;
import java.util.List;
import javax.xml.namespace.QName;

/**
 * The values of messages in the classes that JAXB's compiler generates from suite.wsdl; doubles in
 * base64 are arrays of doubles.
 */
final class JaxbValues {
    /** The capabilities of toolkits with JAXB. */
    static final List<String> KINDS =
            List.of("ints", "easy", "hard", "strings", "structs", "events", "base64", "doubles64", "composites");

    private JaxbValues() {
    }

    /** Returns the class of an operation's content. */
    static Class<?> type(String kind) {
        return switch (kind) {
            case "ints" -> Ints.class;
            case "easy", "hard" -> Doubles.class;
            case "strings" -> Strings.class;
            case "structs" -> Mios.class;
            case "events" -> Events.class;
            case "base64", "doubles64" -> Base64.class;
            default -> Composites.type(kind);
        };
    }

    static QName element(String kind) {
        return new QName("urn:bench", Toolkit.operation(kind));
    }

    /** Returns the content as a program uses it. */
    static Object opened(String kind, Object content) {
        return kind.equals("doubles64") ? Bits.doubles(((Base64) content).getData()) : content;
    }

    /** Returns the element to write. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static JAXBElement<?> closed(String kind, Object values) {
        Object content = values;
        if (kind.equals("doubles64")) {
            Base64 data = new Base64();
            data.setData(Bits.octets((double[]) values));
            content = data;
        }
        return new JAXBElement(element(kind), type(kind), content);
    }

    /** Handles content, or the list or array in it, which calls return. */
    static void sum(Object values, Checksum sum) {
        if (values instanceof byte[] octets) {
            sum.add(octets);
        } else if (values instanceof double[] doubles) {
            for (double item : doubles) {
                sum.add(item);
            }
        } else if (values instanceof Base64 data) {
            sum.add(data.getData());
        } else if (Composites.has(values)) {
            Composites.sum(values, sum);
        } else {
            items(values).forEach(item -> add(item, sum));
        }
    }

    private static List<?> items(Object values) {
        if (values instanceof Ints ints) {
            return ints.getItem();
        } else if (values instanceof Doubles doubles) {
            return doubles.getItem();
        } else if (values instanceof Strings strings) {
            return strings.getItem();
        } else if (values instanceof Mios mios) {
            return mios.getItem();
        } else if (values instanceof Events events) {
            return events.getItem();
        }
        return (List<?>) values;
    }

    private static void add(Object item, Checksum sum) {
        if (item instanceof Integer number) {
            sum.add(number.intValue());
        } else if (item instanceof Double number) {
            sum.add(number.doubleValue());
        } else if (item instanceof Mio mio) {
            sum.add(mio.getX());
            sum.add(mio.getY());
            sum.add(mio.getV());
        } else if (item instanceof Event event) {
            sum.add(event.getId());
            sum.add(event.getValue());
            sum.add(event.getMessage());
        } else {
            sum.add((String) item);
        }
    }
}
