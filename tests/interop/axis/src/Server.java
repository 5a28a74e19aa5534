package deltasoap.interop;

import java.io.StringReader;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.axis.MessageContext;
import org.apache.axis.WSDDEngineConfiguration;
import org.apache.axis.deployment.wsdd.WSDDDocument;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.message.SOAPHeaderElement;
import org.apache.axis.transport.http.SimpleAxisServer;
import org.apache.axis.utils.XMLUtils;
import org.xml.sax.InputSource;

/**
 * Echoes every kind of encoded.wsdl with Apache Axis 1.4. Argument: the folder with the code that
 * Axis has generated from the WSDL.
 *
 * <p>A value in both the request and the response is an in-out parameter in Axis, which stays
 * unchanged.
 */
public final class Server {
    public static void main(String[] arguments) throws Exception {
        SimpleAxisServer server = new SimpleAxisServer();
        server.setServerSocket(new ServerSocket(0));
        var configuration = (WSDDEngineConfiguration) server.getAxisServer().getConfig();
        deploy(configuration, Path.of(arguments[0], "values", "encoded", "deploy.wsdd"));
        server.getAxisServer().refreshGlobalOptions();
        System.out.println("listening on http://localhost:" + server.getServerSocket().getLocalPort() + "/axis/services/encoded");
        server.run();
    }

    private static void deploy(WSDDEngineConfiguration to, Path file) throws Exception {
        String text = Files.readString(file).replace("service name=\"Soap11\"", "service name=\"encoded\"");
        text = text.replace(values.encoded.EncodedSoap11Impl.class.getName(), Encoded.class.getName());
        new WSDDDocument(XMLUtils.newDocument(new InputSource(new StringReader(text)))).deploy(to.getDeployment());
    }

    /** The service of encoded.wsdl. */
    public static final class Encoded extends values.encoded.EncodedSoap11Impl {
        @Override
        public void trace() throws java.rmi.RemoteException {
            Server.trace();
        }

        @Override
        public void fail(String code) throws java.rmi.RemoteException {
            throw new values.encoded.Failure(code, code.codePointCount(0, code.length()));
        }
    }

    private static void trace() throws java.rmi.RemoteException {
        MessageContext context = MessageContext.getCurrentContext();
        SOAPHeaderElement block = context.getRequestMessage().getSOAPEnvelope().getHeaderByName("urn:encoded", "Trace");
        if (block == null) {
            return;
        }
        try {
            SOAPHeaderElement answer = new SOAPHeaderElement("urn:encoded", "Trace");
            answer.addChildElement(Tests.part("id", text(block, "id")));
            answer.addChildElement(Tests.part("hops", String.valueOf(Integer.parseInt(text(block, "hops")) + 1)));
            SOAPEnvelope envelope = context.getResponseMessage().getSOAPEnvelope();
            envelope.addHeader(answer);
            block.setProcessed(true);
        } catch (Exception error) {
            throw new java.rmi.RemoteException("no header block", error);
        }
    }

    private static String text(SOAPHeaderElement block, String name) {
        return block.getChildElement(new javax.xml.namespace.QName(name)).getValue();
    }
}
