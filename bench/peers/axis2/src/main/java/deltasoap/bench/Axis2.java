package deltasoap.bench;

import deltasoap.bench.suite.SuiteStub;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.xml.namespace.QName;
import javax.xml.stream.XMLStreamReader;
import org.apache.axiom.om.OMAbstractFactory;
import org.apache.axiom.om.OMElement;
import org.apache.axiom.om.OMOutputFormat;
import org.apache.axiom.om.OMXMLParserWrapper;
import org.apache.axiom.soap.SOAPEnvelope;
import org.apache.axiom.soap.SOAPFactory;
import org.apache.axis2.Constants;
import org.apache.axis2.Version;
import org.apache.axis2.builder.SOAPBuilder;
import org.apache.axis2.client.Options;
import org.apache.axis2.context.ConfigurationContext;
import org.apache.axis2.context.ConfigurationContextFactory;
import org.apache.axis2.context.MessageContext;
import org.apache.axis2.kernel.http.HTTPConstants;
import org.apache.axis2.kernel.http.SOAPMessageFormatter;

/**
 * Apache Axis2: its data binding (ADB) over its object model (Axiom); its servlet and its client.
 */
public final class Axis2 implements Toolkit {
    private static final String UTF_8 = "UTF-8";
    /** Processes may be suspended for a while; the default limit is half a minute. */
    private static final long PATIENCE_MS = 600_000;

    private final SOAPBuilder builder = new SOAPBuilder();
    private final SOAPMessageFormatter formatter = new SOAPMessageFormatter();
    private final SOAPFactory factory = OMAbstractFactory.getSOAP11Factory();

    public static void main(String[] arguments) throws IOException {
        Peer.run(new Axis2());
    }

    @Override
    public String name() {
        return "axis2";
    }

    @Override
    public String version() {
        return Version.getVersionText();
    }

    @Override
    public List<String> kinds() {
        return List.of("ints", "easy", "hard", "strings", "structs", "events", "base64", "doubles64", "composites");
    }

    /** Its data binding cannot read the least int, nor infinite numbers in an array of doubles. */
    @Override
    public boolean lacksExtremes() {
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
    public List<String> transports() {
        return List.of("gzip", "tls", "gzip+tls");
    }

    /**
     * As in its servlet and its message receiver: the tree is built up to the payload, which goes
     * from the parser to the beans.
     */
    @Override
    public Object decode(String kind, byte[] message) throws Exception {
        MessageContext context = new MessageContext();
        context.setProperty(Constants.Configuration.CHARACTER_SET_ENCODING, UTF_8);
        OMElement envelope = builder.processDocument(new ByteArrayInputStream(message), "text/xml; charset=utf-8", context);
        OMElement payload = ((SOAPEnvelope) envelope).getBody().getFirstElement();
        if (payload == null || !payload.getQName().equals(element(kind))) {
            throw new IllegalArgumentException((payload == null ? "nothing" : payload.getQName()) + " instead of " + element(kind));
        }
        XMLStreamReader xml = payload.getXMLStreamReaderWithoutCaching();
        while (!xml.isStartElement()) {
            xml.next();
        }
        Object values = AdbValues.read(kind, xml);
        xml.close();
        ((OMXMLParserWrapper) context.getProperty(Constants.BUILDER)).close();
        return values;
    }

    /** As in its message receiver and its transport. */
    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        SOAPEnvelope envelope = factory.getDefaultEnvelope();
        envelope.getBody().addChild(AdbValues.bean(values).getOMElement(element(kind), factory));
        MessageContext context = new MessageContext();
        context.setEnvelope(envelope);
        OMOutputFormat format = new OMOutputFormat();
        format.setCharSetEncoding(UTF_8);
        formatter.writeTo(context, format, out, false);
    }

    /** With the prefix of generated code. */
    private static QName element(String kind) {
        return new QName("urn:bench", Toolkit.operation(kind), "ns1");
    }

    @Override
    public void sum(String kind, Object values, Checksum sum) {
        AdbValues.sum(kind, values, sum);
    }

    @Override
    public int serve(int connections, Transport transport) throws Exception {
        return Http.serve(transport);
    }

    @Override
    public Call client(int port, Transport transport, String operation, Object content) throws Exception {
        return AdbCalls.of(stub(port, transport), operation, content);
    }

    private static SuiteStub stub(int port, Transport transport) throws Exception {
        ConfigurationContext configuration = ConfigurationContextFactory.createDefaultConfigurationContext();
        if (transport.isTls()) {
            configuration.setProperty(SSLContext.class.getName(), transport.context());
        }
        SuiteStub stub = new SuiteStub(configuration, transport.address(port));
        Options options = stub._getServiceClient().getOptions();
        options.setTimeOutInMilliSeconds(PATIENCE_MS);
        if (transport.isGzip()) {
            options.setProperty(HTTPConstants.MC_GZIP_REQUEST, true);
            options.setProperty(HTTPConstants.MC_ACCEPT_GZIP, true);
        }
        return stub;
    }
}
