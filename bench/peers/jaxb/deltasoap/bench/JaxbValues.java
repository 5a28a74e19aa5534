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

/** The values of messages in the classes that JAXB's compiler makes of suite.wsdl; doubles in base64 are arrays of doubles. */
final class JaxbValues {
    /** What toolkits on JAXB can do. */
    static final List<String> KINDS =
            List.of("ints", "easy", "hard", "strings", "structs", "events", "base64", "doubles64", "composites");

    private JaxbValues() {
    }

    /** The class of an operation's content. */
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

    /** What a program has of the content. */
    static Object opened(String kind, Object content) {
        return kind.equals("doubles64") ? Bits.doubles(((Base64) content).getData()) : content;
    }

    /** The element to be written. */
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

    static void sum(Object values, Checksum sum) {
        if (values instanceof Ints ints) {
            ints.getItem().forEach(sum::add);
        } else if (values instanceof Doubles doubles) {
            doubles.getItem().forEach(sum::add);
        } else if (values instanceof Strings strings) {
            strings.getItem().forEach(sum::add);
        } else if (values instanceof Mios mios) {
            mios.getItem().forEach(mio -> add(mio, sum));
        } else if (values instanceof Events events) {
            events.getItem().forEach(event -> add(event, sum));
        } else if (values instanceof Base64 data) {
            sum.add(data.getData());
        } else if (Composites.has(values)) {
            Composites.sum(values, sum);
        } else {
            for (double item : (double[]) values) {
                sum.add(item);
            }
        }
    }

    private static void add(Mio mio, Checksum sum) {
        sum.add(mio.getX());
        sum.add(mio.getY());
        sum.add(mio.getV());
    }

    private static void add(Event event, Checksum sum) {
        sum.add(event.getId());
        sum.add(event.getValue());
        sum.add(event.getMessage());
    }
}
