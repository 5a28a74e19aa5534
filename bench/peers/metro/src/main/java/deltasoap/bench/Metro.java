package deltasoap.bench;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import com.sun.xml.ws.api.SOAPVersion;
import com.sun.xml.ws.api.message.Messages;
import com.sun.xml.ws.api.message.Packet;
import com.sun.xml.ws.api.pipe.Codec;
import com.sun.xml.ws.api.pipe.Codecs;
import com.sun.xml.ws.developer.JAXWSProperties;
import com.sun.xml.ws.util.RuntimeVersion;
import deltasoap.bench.suite.ObjectFactory;
import deltasoap.bench.suite.Suite;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBElement;
import jakarta.xml.bind.JAXBException;
import jakarta.xml.bind.Unmarshaller;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Service;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import javax.xml.namespace.QName;

/**
 * Metro (jaxws-rt): its codec for SOAP envelopes, with JAXB; its endpoint on the server included in
 * Java.
 */
public final class Metro implements Toolkit {
    /** Also the namespace of the service. */
    private static final QName PORT = new QName("urn:bench", "Suite");
    private static final int BACKLOG = 1024;

    /** Reading and writing of the types of one WSDL. */
    private static final class Binding {
        final JAXBContext context;
        final Unmarshaller unmarshaller;

        Binding(Class<?> factory) throws JAXBException {
            context = JAXBContext.newInstance(factory);
            unmarshaller = context.createUnmarshaller();
        }
    }

    private final Binding suite = new Binding(ObjectFactory.class);
    /** Separate from the others, and created on first use, so that it does not slow them down. */
    private Binding composites;
    private final Codec codec = Codecs.createSOAPEnvelopeXmlCodec(SOAPVersion.SOAP_11);

    private final Service service = Service.create(Metro.class.getResource("/suite.wsdl"), PORT);

    private Metro() throws JAXBException {
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

    public static void main(String[] arguments) throws IOException, JAXBException {
        Peer.run(new Metro());
    }

    @Override
    public String name() {
        return "metro";
    }

    @Override
    public String version() {
        return RuntimeVersion.VERSION.toString().replaceAll(".*?(\\d[\\w.]*).*", "$1");
    }

    @Override
    public List<String> operations() {
        return SuiteService.OPERATIONS;
    }

    @Override
    public List<String> calls() {
        return SuiteService.OPERATIONS;
    }

    /** It has no option for compressed requests. */
    @Override
    public List<String> transports() {
        return List.of("tls");
    }

    /**
     * As at the endpoint: the codec reads the envelope up to the body, JAXB the payload, then the
     * codec the rest.
     */
    @Override
    public Object decode(String kind, byte[] message) throws Exception {
        Packet packet = new Packet();
        codec.decode(new ByteArrayInputStream(message), "text/xml; charset=utf-8", packet);
        String name = packet.getMessage().getPayloadLocalPart();
        if (!Toolkit.operation(kind).equals(name)) {
            throw new IllegalArgumentException(name + " is another operation");
        }
        JAXBElement<?> element = packet.getMessage().readPayloadAsJAXB(binding(kind).unmarshaller);
        return JaxbValues.opened(kind, element.getValue());
    }

    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        Packet packet = new Packet(Messages.create(binding(kind).context, JaxbValues.closed(kind, values), SOAPVersion.SOAP_11));
        codec.encode(packet, out);
    }

    @Override
    public void sum(String kind, Object values, Checksum sum) {
        JaxbValues.sum(values, sum);
    }

    /** A thread for each connection with a request, as recommended for the server. */
    @Override
    public int serve(int connections, Transport transport) throws Exception {
        HttpServer server = server(transport);
        server.setExecutor(Executors.newCachedThreadPool());
        Endpoint.create(new SuiteService()).publish(server.createContext("/bench"));
        server.start();
        return server.getAddress().getPort();
    }

    private static HttpServer server(Transport transport) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        if (!transport.isTls()) {
            return HttpServer.create(address, BACKLOG);
        }
        HttpsServer server = HttpsServer.create(address, BACKLOG);
        server.setHttpsConfigurator(new HttpsConfigurator(transport.context()));
        return server;
    }

    @Override
    public Call client(int port, Transport transport, String operation, Object content) throws Exception {
        Suite suite = service.getPort(PORT, Suite.class);
        Map<String, Object> context = ((BindingProvider) suite).getRequestContext();
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, transport.address(port));
        if (transport.isTls()) {
            context.put(JAXWSProperties.SSL_SOCKET_FACTORY, transport.context().getSocketFactory());
        }
        return JaxWsCalls.of(suite, operation, content);
    }
}
