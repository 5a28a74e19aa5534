package deltasoap.bench;

import deltasoap.bench.suite.ObjectFactory;
import deltasoap.bench.suite.Suite;
import jakarta.xml.bind.JAXBElement;
import jakarta.xml.bind.JAXBException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import javax.xml.namespace.QName;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.XMLStreamWriter;
import org.apache.cxf.BusFactory;
import org.apache.cxf.configuration.jsse.TLSClientParameters;
import org.apache.cxf.configuration.jsse.TLSServerParameters;
import org.apache.cxf.databinding.DataReader;
import org.apache.cxf.databinding.DataWriter;
import org.apache.cxf.feature.Feature;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.staxutils.StaxUtils;
import org.apache.cxf.transport.common.gzip.GZIPFeature;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transport.http_jetty.JettyHTTPServerEngineFactory;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import org.apache.cxf.version.Version;

/**
 * Apache CXF: its JAXB data binding over Woodstox, as its interceptors use them; its server on
 * Jetty.
 */
public final class Cxf implements Toolkit {
    private static final String SOAP = "http://schemas.xmlsoap.org/soap/envelope/";
    /** Maximum number of elements within one element; the default is 50,000. */
    private static final String MOST_CHILDREN = "org.apache.cxf.stax.maxChildElements";

    /** Reading and writing of the types of one WSDL. */
    private static final class Binding {
        final DataReader<XMLStreamReader> reader;
        final DataWriter<XMLStreamWriter> writer;

        Binding(Class<?> factory) throws JAXBException {
            JAXBDataBinding binding = new JAXBDataBinding(factory);
            reader = binding.createReader(XMLStreamReader.class);
            writer = binding.createWriter(XMLStreamWriter.class);
        }
    }

    private final Binding suite = new Binding(ObjectFactory.class);
    /** Separate from the others, and created on first use, so that it does not slow them down. */
    private Binding composites;

    private Cxf() throws JAXBException {
    }

    private Binding binding(String kind) throws JAXBException {
        if (!Toolkit.isComposite(kind)) {
            return suite;
        }
        if (composites == null) {
            composites = new Binding(deltasoap.bench.composites.ObjectFactory.class);
        }
        return composites;
    }

    @Override
    public List<String> kinds() {
        return JaxbValues.KINDS;
    }

    // The property is looked up when the first reader is created.
    public static void main(String[] arguments) throws IOException, JAXBException {
        System.setProperty(MOST_CHILDREN, "1000000");
        Peer.run(new Cxf());
    }

    @Override
    public String name() {
        return "cxf";
    }

    @Override
    public String version() {
        return Version.getCurrentVersion();
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

    @Override
    public Object decode(String kind, byte[] message) throws Exception {
        XMLStreamReader xml = StaxUtils.createXMLStreamReader(new ByteArrayInputStream(message), "UTF-8");
        enter(xml, new QName(SOAP, "Envelope"));
        enter(xml, new QName(SOAP, "Body"));
        enter(xml, JaxbValues.element(kind));
        Object read = binding(kind).reader.read(JaxbValues.element(kind), xml, JaxbValues.type(kind));
        while (xml.getEventType() != XMLStreamReader.END_DOCUMENT) {
            xml.next();
        }
        xml.close();
        return JaxbValues.opened(kind, read instanceof JAXBElement<?> element ? element.getValue() : read);
    }

    private static void enter(XMLStreamReader xml, QName expected) throws XMLStreamException {
        xml.nextTag();
        if (!xml.getName().equals(expected)) {
            throw new IllegalArgumentException(xml.getName() + " instead of " + expected);
        }
    }

    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        XMLStreamWriter xml = StaxUtils.createXMLStreamWriter(out, "UTF-8");
        xml.setPrefix("soap", SOAP);
        xml.writeStartElement("soap", "Envelope", SOAP);
        xml.writeNamespace("soap", SOAP);
        xml.writeStartElement("soap", "Body", SOAP);
        binding(kind).writer.write(JaxbValues.closed(kind, values), xml);
        xml.writeEndElement();
        xml.writeEndElement();
        xml.writeEndDocument();
        xml.close();
    }

    @Override
    public void sum(String kind, Object values, Checksum sum) {
        JaxbValues.sum(values, sum);
    }

    /**
     * CXF takes its Jetty's port from the address, so a free one must be found first. Jetty's
     * thread pool serves active connections, for any number of them.
     */
    @Override
    public int serve(int connections, Transport transport) throws Exception {
        int port = Transport.freePort();
        if (transport.isTls()) {
            TLSServerParameters parameters = new TLSServerParameters();
            parameters.setKeyManagers(transport.identity());
            BusFactory.getDefaultBus().getExtension(JettyHTTPServerEngineFactory.class).setTLSServerParametersForPort("127.0.0.1", port, parameters);
        }
        JaxWsServerFactoryBean server = new JaxWsServerFactoryBean();
        server.setServiceBean(new SuiteService());
        server.setAddress(transport.address(port));
        server.getFeatures().addAll(features(transport));
        server.create();
        return port;
    }

    @Override
    public Call client(int port, Transport transport, String operation, Object content) throws Exception {
        JaxWsProxyFactoryBean factory = new JaxWsProxyFactoryBean();
        factory.setAddress(transport.address(port));
        factory.getFeatures().addAll(features(transport));
        Suite suite = factory.create(Suite.class);
        HTTPConduit conduit = (HTTPConduit) ClientProxy.getClient(suite).getConduit();
        HTTPClientPolicy policy = new HTTPClientPolicy();
        // Otherwise it requests HTTP/2 in each request.
        policy.setVersion("1.1");
        conduit.setClient(policy);
        if (transport.isTls()) {
            TLSClientParameters parameters = new TLSClientParameters();
            parameters.setTrustManagers(transport.trust());
            conduit.setTlsClientParameters(parameters);
        }
        return JaxWsCalls.of(suite, operation, content);
    }

    /** Compresses every message, or none. */
    private static List<Feature> features(Transport transport) {
        GZIPFeature gzip = new GZIPFeature();
        gzip.setForce(true);
        gzip.setThreshold(0);
        return transport.isGzip() ? List.of(gzip) : List.of();
    }
}
