package deltasoap.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.Writer;
import org.xmlpull.v1.XmlSerializer;
import org.xmlpull.v1.builder.XmlDocument;
import org.xmlpull.v1.builder.XmlElement;
import org.xmlpull.v1.builder.XmlInfosetBuilder;
import xsul.XmlConstants;
import xsul.soap11_util.Soap11Util;
import xsul.util.Utf8Writer;

/** XSUL from values to bytes and back: what its HTTP invoker does with a document before it waits for an answer. */
final class Codec {
    private static final String NAMESPACE = "urn:bench";
    private static final XmlInfosetBuilder BUILDER = XmlConstants.BUILDER;

    private Codec() {}

    static Values decode(String kind, byte[] message) {
        XmlDocument document = BUILDER.parseInputStream(new ByteArrayInputStream(message), "UTF-8");
        return Values.read(kind, Soap11Util.getInstance().requiredBodyContent(document));
    }

    static void encode(String kind, Values values, OutputStream out) throws Exception {
        XmlElement operation = BUILDER.newFragment(BUILDER.newNamespace("ns", NAMESPACE), operation(kind));
        operation.declareNamespace(operation.getNamespace());
        values.write(operation);
        XmlDocument document = Soap11Util.getInstance().wrapBodyContent(operation);
        document.setCharacterEncodingScheme("utf-8");
        Writer writer = new Utf8Writer(out, 8 * 1024);
        XmlSerializer serializer = BUILDER.getFactory().newSerializer();
        serializer.setOutput(writer);
        BUILDER.serialize(document, serializer);
        serializer.flush();
        writer.flush();
    }

    static byte[] encode(String kind, Values values) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        encode(kind, values, out);
        return out.toByteArray();
    }

    private static String operation(String kind) {
        return switch (kind) {
            case "ints" -> "sendInts";
            case "structs" -> "sendMios";
            default -> "sendDoubles";
        };
    }
}
