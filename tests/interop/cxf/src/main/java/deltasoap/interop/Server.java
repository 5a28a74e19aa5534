package deltasoap.interop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

import jakarta.xml.ws.soap.SOAPBinding;
import org.apache.cxf.Bus;
import org.apache.cxf.BusFactory;
import org.apache.cxf.configuration.jsse.TLSServerParameters;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.apache.cxf.transport.common.gzip.GZIPFeature;
import org.apache.cxf.transport.http_jetty.JettyHTTPServerEngineFactory;

/**
 * Serves testdata/wsdl/bench.wsdl with CXF: arguments are the WSDL's URL, the certificate's file
 * and its key's.
 *
 * <p>Prints a line {@code listening on URL} for HTTP and one for HTTPS, and serves until it is
 * killed. The paths /gzip, /utf-16 and /mtom answer in these forms. A SOAP 1.2 endpoint accepts
 * SOAP 1.1 messages as well.
 */
public final class Server {
    private final Bus bus = BusFactory.getDefaultBus();
    private final BenchService service = new BenchService();
    private final String wsdl;

    private Server(String wsdl) {
        this.wsdl = wsdl;
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        Server server = new Server(arguments[0]);
        server.servePlain(freePort());
        server.serveSecure(freePort(), Path.of(arguments[1]), Path.of(arguments[2]));
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private void servePlain(int port) {
        String origin = "http://localhost:" + port;
        endpoint().publish(origin + "/bench");
        EndpointImpl gzip = endpoint();
        gzip.getFeatures().add(compressing());
        gzip.publish(origin + "/gzip");
        EndpointImpl utf16 = endpoint();
        utf16.getOutInterceptors().add(new Utf16());
        utf16.publish(origin + "/utf-16");
        EndpointImpl mtom = endpoint();
        mtom.publish(origin + "/mtom");
        ((SOAPBinding) mtom.getBinding()).setMTOMEnabled(true);
        System.out.println("listening on " + origin + "/bench");
    }

    private void serveSecure(int port, Path certificate, Path key) throws Exception {
        TLSServerParameters tls = new TLSServerParameters();
        tls.setKeyManagers(Pem.identity(certificate, key));
        bus.getExtension(JettyHTTPServerEngineFactory.class).setTLSServerParametersForPort("localhost", port, tls);
        String address = "https://localhost:" + port + "/bench";
        endpoint().publish(address);
        System.out.println("listening on " + address);
    }

    private EndpointImpl endpoint() {
        EndpointImpl endpoint = new EndpointImpl(bus, service);
        endpoint.setWsdlLocation(wsdl);
        return endpoint;
    }

    private static GZIPFeature compressing() {
        GZIPFeature feature = new GZIPFeature();
        feature.setThreshold(0);
        return feature;
    }

    /** Makes responses be written in UTF-16. */
    static final class Utf16 extends AbstractPhaseInterceptor<Message> {
        Utf16() {
            super(Phase.SETUP);
        }

        @Override
        public void handleMessage(Message message) throws Fault {
            message.put(Message.ENCODING, "UTF-16");
        }
    }
}
