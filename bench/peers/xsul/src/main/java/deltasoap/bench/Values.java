package deltasoap.bench;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.xmlpull.v1.builder.XmlElement;
import xsul.XmlConstants;
import xsul.xsd_type_handler.util.Base64;
import xsul.xsd_type_handler.util.Base64DecodingException;
import xsul.xsd_type_handler.util.Base64EncodingException;

/**
 * The content of a message as a program uses it: an array, with its conversion from and to XSUL's
 * tree.
 */
final class Values {
    private static final String NAMESPACE = "urn:bench";

    private Values() {
    }

    /** A mesh interface object. */
    record Mio(int x, int y, double v) {
    }

    /** A simple event. */
    record Event(int id, double value, String message) {
    }

    /** Returns an operation's element without content. */
    static XmlElement element(String operation) {
        XmlElement element = XmlConstants.BUILDER.newFragment(XmlConstants.BUILDER.newNamespace("ns", NAMESPACE), operation);
        element.declareNamespace(element.getNamespace());
        return element;
    }

    /** Returns the values of a kind in an operation's element. */
    static Object read(String kind, XmlElement operation) {
        List<XmlElement> items = elements(operation);
        return switch (kind) {
            case "ints" -> items.stream().mapToInt(Values::integer).toArray();
            case "easy", "hard" -> items.stream().mapToDouble(Values::parseDouble).toArray();
            case "strings" -> items.stream().map(Values::text).toArray(String[]::new);
            case "structs" -> items.stream().map(Values::mio).toArray(Mio[]::new);
            case "events" -> items.stream().map(Values::event).toArray(Event[]::new);
            case "base64" -> octets(items);
            case "doubles64" -> Bits.doubles(octets(items));
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
    }

    /** Adds all values of a kind to an operation's element. */
    static void write(String kind, Object values, XmlElement operation) {
        switch (kind) {
            case "ints" -> ints((int[]) values, operation);
            case "easy", "hard" -> doubles((double[]) values, operation);
            case "strings" -> strings((String[]) values, operation);
            case "structs" -> mios((Mio[]) values, operation);
            case "events" -> events((Event[]) values, operation);
            case "base64" -> add(operation, "data", base64((byte[]) values));
            case "doubles64" -> add(operation, "data", base64(Bits.octets((double[]) values)));
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        }
    }

    static int readCount(XmlElement operation) {
        return integer(elements(operation).get(0));
    }

    static void writeCount(int count, XmlElement operation) {
        add(operation, "count", Integer.toString(count));
    }

    static void sum(Object values, Checksum sum) {
        if (values instanceof int[] items) {
            for (int item : items) {
                sum.add(item);
            }
        } else if (values instanceof double[] items) {
            for (double item : items) {
                sum.add(item);
            }
        } else if (values instanceof byte[] octets) {
            sum.add(octets);
        } else {
            for (Object item : (Object[]) values) {
                sumItem(item, sum);
            }
        }
    }

    private static void sumItem(Object item, Checksum sum) {
        if (item instanceof Mio mio) {
            sum.add(mio.x());
            sum.add(mio.y());
            sum.add(mio.v());
        } else if (item instanceof Event event) {
            sum.add(event.id());
            sum.add(event.value());
            sum.add(event.message());
        } else {
            sum.add((String) item);
        }
    }

    private static void ints(int[] items, XmlElement operation) {
        operation.ensureChildrenCapacity(items.length);
        for (int item : items) {
            add(operation, "item", Integer.toString(item));
        }
    }

    private static void doubles(double[] items, XmlElement operation) {
        operation.ensureChildrenCapacity(items.length);
        for (double item : items) {
            add(operation, "item", printDouble(item));
        }
    }

    private static void strings(String[] items, XmlElement operation) {
        operation.ensureChildrenCapacity(items.length);
        for (String item : items) {
            add(operation, "item", item);
        }
    }

    private static void mios(Mio[] items, XmlElement operation) {
        operation.ensureChildrenCapacity(items.length);
        for (Mio item : items) {
            XmlElement element = operation.addElement("item");
            add(element, "x", Integer.toString(item.x()));
            add(element, "y", Integer.toString(item.y()));
            add(element, "v", printDouble(item.v()));
        }
    }

    private static void events(Event[] items, XmlElement operation) {
        operation.ensureChildrenCapacity(items.length);
        for (Event item : items) {
            XmlElement element = operation.addElement("item");
            add(element, "id", Integer.toString(item.id()));
            add(element, "value", printDouble(item.value()));
            add(element, "message", item.message());
        }
    }

    private static void add(XmlElement parent, String name, String text) {
        parent.addElement(name).addChild(text);
    }

    private static Mio mio(XmlElement item) {
        List<XmlElement> fields = elements(item);
        return new Mio(integer(fields.get(0)), integer(fields.get(1)), parseDouble(fields.get(2)));
    }

    private static Event event(XmlElement item) {
        List<XmlElement> fields = elements(item);
        return new Event(integer(fields.get(0)), parseDouble(fields.get(1)), text(fields.get(2)));
    }

    /** The base64 content of a message is one element. */
    private static byte[] octets(List<XmlElement> items) {
        try {
            return Base64.decode(text(items.get(0)).toCharArray());
        } catch (Base64DecodingException fault) {
            throw new IllegalArgumentException("this is no base64", fault);
        }
    }

    private static String base64(byte[] octets) {
        try {
            return new String(Base64.encode(octets));
        } catch (Base64EncodingException fault) {
            throw new IllegalArgumentException("this cannot be written in base64", fault);
        }
    }

    private static List<XmlElement> elements(XmlElement parent) {
        List<XmlElement> elements = new ArrayList<>();
        for (Iterator<?> children = parent.children(); children.hasNext(); ) {
            if (children.next() instanceof XmlElement element) {
                elements.add(element);
            }
        }
        return elements;
    }

    private static int integer(XmlElement element) {
        return Integer.parseInt(text(element).trim());
    }

    private static String text(XmlElement element) {
        StringBuilder text = new StringBuilder();
        for (Iterator<?> children = element.children(); children.hasNext(); ) {
            text.append(children.next());
        }
        return text.toString();
    }

    /** Java's names of infinities are not those of XML Schema. */
    private static double parseDouble(XmlElement element) {
        String text = text(element).trim();
        return switch (text) {
            case "INF" -> Double.POSITIVE_INFINITY;
            case "-INF" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    private static String printDouble(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "INF" : "-INF";
        }
        return Double.toString(value);
    }
}
