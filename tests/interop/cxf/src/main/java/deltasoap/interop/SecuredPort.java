package deltasoap.interop;

import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.UnaryOperator;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxws.DispatchImpl;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.wss4j.dom.engine.WSSConfig;

/** A port of secured/bank.wsdl, and what happens to its messages on the way. */
final class SecuredPort {
    private static final String TRANSFER =
            "<transfer xmlns='urn:bank'><to>Bob &amp; Eve</to><amount>%s</amount></transfer>";

    private final URI origin;
    private final String path;
    private final Dispatch<Source> dispatch;
    private final Wire wire = new Wire();

    /** Reads the WSDL from the server, so that it follows the policies that the server publishes. */
    SecuredPort(URI origin, String policy, String version, Map<String, Object> properties) throws Exception {
        this.origin = origin;
        String port = policy + version.replace(".", "");
        path = "/" + port;
        URI wsdl = URI.create(origin + path + "?wsdl");
        Service service = Service.create(wsdl.toURL(), new QName(Secured.NAMESPACE, "Bank"));
        dispatch = service.createDispatch(new QName(Secured.NAMESPACE, port), Source.class, Service.Mode.PAYLOAD);
        Map<String, Object> context = dispatch.getRequestContext();
        context.putAll(properties);
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, origin + path);
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, "urn:bank:transfer");
        // Otherwise the sender's faults in SOAP 1.2, which have this status, are not read.
        context.put(HTTPConduit.PROCESS_FAULT_ON_HTTP_400, true);
        Client client = ((DispatchImpl<?>) dispatch).getClient();
        client.getOutInterceptors().add(wire.new Out());
        client.getInInterceptors().add(wire.new In());
    }

    /** Calls the service below another path. */
    SecuredPort at(String folder) {
        dispatch.getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, origin + folder + path);
        return this;
    }

    SecuredPort sending(UnaryOperator<String> change) {
        wire.requests = change;
        return this;
    }

    SecuredPort receiving(UnaryOperator<String> change) {
        wire.responses = change;
        return this;
    }

    SecuredPort anHourAgo() {
        WSSConfig config = WSSConfig.getNewInstance();
        config.setCurrentTime(() -> Instant.now().minus(Duration.ofHours(1)));
        dispatch.getRequestContext().put(WSSConfig.class.getName(), config);
        return this;
    }

    String transfer(String amount) throws Exception {
        StringWriter response = new StringWriter();
        Source source = dispatch.invoke(new StreamSource(new StringReader(String.format(TRANSFER, amount))));
        if (source == null) {
            throw new IllegalStateException("no response");
        }
        TransformerFactory.newInstance().newTransformer().transform(source, new StreamResult(response));
        return response.toString();
    }

    /** Returns the last request, as it was sent. */
    String sent() {
        return wire.request;
    }

    /** Returns the last response, as it was received. */
    String received() {
        return wire.response;
    }

    /** Returns the HTTP status of the last response. */
    int status() {
        return wire.status;
    }

    /** Returns a message with something else in the body, or with other ciphertext. */
    static String changed(String message) {
        if (message.contains(">250<")) {
            return message.replace(">250<", ">950<");
        }
        return with(message, message.lastIndexOf("</xenc:CipherValue>"));
    }

    /** Returns a message with another digest of a password. */
    static String guessed(String message) {
        return with(message, message.indexOf("</wsse:Password>"));
    }

    /** Returns a message without the security header. */
    static String bare(String message) {
        return message.replaceFirst("(?s)<(\\w*:)?Security .*</(\\w*:)?Security>", "");
    }

    /** Returns a message with another letter of the base64 that ends somewhere. */
    private static String with(String message, int end) {
        int at = end - 10;
        return message.substring(0, at) + (message.charAt(at) == 'A' ? 'B' : 'A') + message.substring(at + 1);
    }
}
