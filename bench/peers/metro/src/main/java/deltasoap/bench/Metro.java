package deltasoap.bench;

import com.sun.xml.ws.api.SOAPVersion;
import com.sun.xml.ws.api.message.Messages;
import com.sun.xml.ws.api.message.Packet;
import com.sun.xml.ws.api.pipe.Codec;
import com.sun.xml.ws.api.pipe.Codecs;
import com.sun.xml.ws.util.RuntimeVersion;
import deltasoap.bench.suite.ObjectFactory;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBElement;
import jakarta.xml.bind.JAXBException;
import jakarta.xml.bind.Unmarshaller;
import jakarta.xml.ws.Endpoint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.Executors;

/** Metro (jaxws-rt): its codec for SOAP envelopes, with JAXB behind it; the endpoint on the server that Java has. */
public final class Metro implements Toolkit {
    /** How the types of one description are read and written. */
    private static final class Binding {
        final JAXBContext context;
        final Unmarshaller unmarshaller;

        Binding(Class<?> factory) throws JAXBException {
            context = JAXBContext.newInstance(factory);
            unmarshaller = context.createUnmarshaller();
        }
    }

    private final Binding suite = new Binding(ObjectFactory.class);
    /** Apart from the others, and made when it is first asked for, so that it is no burden to them. */
    private Binding composites;
    private final Codec codec = Codecs.createSOAPEnvelopeXmlCodec(SOAPVersion.SOAP_11);

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

    /** As at the endpoint: the envelope is read up to the body by the codec, the payload by JAXB, the rest of the message then. */
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

    /** A thread for each connection that has a request, as the server is meant to be used. */
    @Override
    public int serve(int connections) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Endpoint endpoint = Endpoint.create(new SuiteService());
        endpoint.setExecutor(Executors.newCachedThreadPool());
        endpoint.publish("http://127.0.0.1:" + port + "/bench");
        return port;
    }
}
