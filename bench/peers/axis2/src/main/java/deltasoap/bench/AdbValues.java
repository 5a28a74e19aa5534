package deltasoap.bench;

import deltasoap.bench.suite.Base64;
import deltasoap.bench.suite.Doubles;
import deltasoap.bench.suite.Event;
import deltasoap.bench.suite.Events;
import deltasoap.bench.suite.Ints;
import deltasoap.bench.suite.Mio;
import deltasoap.bench.suite.Mios;
import deltasoap.bench.suite.Strings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import javax.activation.DataHandler;
import javax.xml.stream.XMLStreamReader;
import org.apache.axiom.attachments.ByteArrayDataSource;
import org.apache.axis2.databinding.ADBBean;

/**
 * The values of messages in the beans that Axis2's data binding (ADB) generates from suite.wsdl;
 * base64 content is octets, or an array of doubles. Axis2 leaves an array without items null.
 */
final class AdbValues {
    private AdbValues() {
    }

    /** Returns the content of the operation's element at the reader's position. */
    static Object read(String kind, XMLStreamReader xml) throws Exception {
        return switch (kind) {
            case "ints" -> Ints.Factory.parse(xml);
            case "easy", "hard" -> Doubles.Factory.parse(xml);
            case "strings" -> Strings.Factory.parse(xml);
            case "structs" -> Mios.Factory.parse(xml);
            case "events" -> Events.Factory.parse(xml);
            case "base64" -> octets(Base64.Factory.parse(xml));
            case "doubles64" -> Bits.doubles(octets(Base64.Factory.parse(xml)));
            default -> Composites.type(kind).read(xml);
        };
    }

    /** Returns the content of an operation's element. */
    static ADBBean bean(Object values) {
        if (values instanceof byte[] octets) {
            return base64(octets);
        }
        return values instanceof double[] doubles ? base64(Bits.octets(doubles)) : (ADBBean) values;
    }

    static Base64 base64(byte[] octets) {
        Base64 content = new Base64();
        content.setData(new DataHandler(new ByteArrayDataSource(octets)));
        return content;
    }

    static byte[] octets(Base64 content) throws IOException {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        content.getData().writeTo(octets);
        return octets.toByteArray();
    }

    /** Handles a bean, or the octets or doubles in it. */
    static void sum(String kind, Object values, Checksum sum) {
        if (values instanceof byte[] octets) {
            sum.add(octets);
        } else if (Toolkit.isComposite(kind)) {
            Composites.type(kind).sum(values, sum);
        } else {
            Object items = items(values);
            int length = items == null ? 0 : Array.getLength(items);
            for (int i = 0; i < length; i++) {
                add(Array.get(items, i), sum);
            }
        }
    }

    private static Object items(Object values) {
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
        return values;
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
