package deltasoap.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Writer;
import java.util.List;
import org.xmlpull.v1.XmlSerializer;
import org.xmlpull.v1.builder.XmlDocument;
import org.xmlpull.v1.builder.XmlElement;
import org.xmlpull.v1.builder.XmlInfosetBuilder;
import xsul.XmlConstants;
import xsul.http_server.HttpMiniServer;
import xsul.invoker.soap_over_http.SoapHttpDynamicInfosetInvoker;
import xsul.soap11_util.Soap11Util;
import xsul.util.Utf8Writer;

/** XSUL: the document handling of its HTTP invoker; that invoker, and its own server. */
public final class Xsul implements Toolkit {
    private static final XmlInfosetBuilder BUILDER = XmlConstants.BUILDER;
    /** Connections are kept for the duration of a benchmark. */
    private static final int IDLE_MILLISECONDS = 3_600_000;

    public static void main(String[] arguments) throws Exception {
        Peer.run(new Xsul());
    }

    @Override
    public String name() {
        return "xsul";
    }

    @Override
    public String version() {
        return "2.10.7";
    }

    @Override
    public boolean sends() {
        return true;
    }

    @Override
    public boolean knowsTwoOctetsAlone() {
        return true;
    }

    @Override
    public List<String> operations() {
        return SuiteService.OPERATIONS;
    }

    @Override
    public List<String> calls() {
        return SuiteService.OPERATIONS;
    }

    @Override
    public Object decode(String kind, byte[] message) {
        XmlDocument document = BUILDER.parseInputStream(new ByteArrayInputStream(message), "UTF-8");
        XmlElement element = Soap11Util.getInstance().requiredBodyContent(document);
        if (!element.getName().equals(Toolkit.operation(kind))) {
            throw new IllegalArgumentException("not " + Toolkit.operation(kind) + " but " + element.getName());
        }
        return Values.read(kind, element);
    }

    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        XmlElement element = Values.element(Toolkit.operation(kind));
        Values.write(kind, values, element);
        XmlDocument document = Soap11Util.getInstance().wrapBodyContent(element);
        document.setCharacterEncodingScheme("utf-8");
        Writer writer = new Utf8Writer(out, 8 * 1024);
        XmlSerializer serializer = BUILDER.getFactory().newSerializer();
        serializer.setOutput(writer);
        BUILDER.serialize(document, serializer);
        serializer.flush();
        writer.flush();
    }

    @Override
    public void sum(String kind, Object values, Checksum sum) {
        Values.sum(values, sum);
    }

    @Override
    public int serve(int connections, Transport transport) throws Exception {
        HttpMiniServer server = new HttpMiniServer(0);
        server.setSoTimeout(IDLE_MILLISECONDS);
        SuiteService service = new SuiteService();
        service.setServer(server);
        service.start();
        return server.getServerPort();
    }

    /** The invoker keeps its connection; each call puts the values into a tree. */
    @Override
    public Call client(int port, Transport transport, String operation, Object content) {
        SoapHttpDynamicInfosetInvoker invoker = new SoapHttpDynamicInfosetInvoker(transport.address(port));
        String kind = Toolkit.kind(operation);
        return () -> {
            XmlElement request = Values.element(operation);
            if (content instanceof Integer count) {
                Values.writeCount(count, request);
            } else if (content != null) {
                Values.write(kind, content, request);
            }
            XmlElement response = invoker.invokeMessage(request);
            if (!response.getName().equals(operation + "Response")) {
                throw new IllegalStateException("not " + operation + "Response but " + response.getName());
            }
            return kind.isEmpty() ? null : operation.startsWith("send") ? (Object) Values.readCount(response) : Values.read(kind, response);
        };
    }
}
