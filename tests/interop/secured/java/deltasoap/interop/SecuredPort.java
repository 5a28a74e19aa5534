package deltasoap.interop;

import java.io.StringReader;
import java.io.StringWriter;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
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

/**
 * A port of secured/bank.wsdl on our server, called by a toolkit, and what happens to its messages
 * on the way.
 */
class SecuredPort {
    private static final String TRANSFER =
            "<transfer xmlns='urn:bank'><to>Bob &amp; Eve</to><amount>%s</amount></transfer>";

    final Dispatch<Source> dispatch;
    private final URI origin;
    private final String path;
    private final Traffic traffic;

    /** Reads a WSDL; a client follows the policies in it. */
    SecuredPort(URI origin, String port, URL wsdl, Traffic traffic) {
        this.origin = origin;
        this.traffic = traffic;
        path = "/" + port;
        Service service = Service.create(wsdl, new QName(Bank.NAMESPACE, "Bank"));
        dispatch = service.createDispatch(new QName(Bank.NAMESPACE, port), Source.class, Service.Mode.PAYLOAD);
        Map<String, Object> context = dispatch.getRequestContext();
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, "urn:bank:transfer");
        at("");
    }

    /** Returns the WSDL that the server publishes. */
    static URL published(URI origin, String port) throws MalformedURLException {
        return URI.create(origin + "/" + port + "?wsdl").toURL();
    }

    /** Sends a transfer; returns the element in the response. */
    final String transfer(String amount) throws Exception {
        StringWriter response = new StringWriter();
        Source source = dispatch.invoke(new StreamSource(new StringReader(String.format(TRANSFER, amount))));
        if (source == null) {
            throw new IllegalStateException("no response");
        }
        TransformerFactory.newInstance().newTransformer().transform(source, new StreamResult(response));
        return response.toString();
    }

    /** Calls the service below another path. */
    final SecuredPort at(String folder) {
        dispatch.getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, origin + folder + path);
        return this;
    }

    final SecuredPort sending(UnaryOperator<String> change) {
        traffic.requests = change;
        return this;
    }

    final SecuredPort receiving(UnaryOperator<String> change) {
        traffic.responses = change;
        return this;
    }

    /** Returns the last request, as it was sent. */
    final String sent() {
        return traffic.request;
    }

    /** Returns the last response, as it was received. */
    final String received() {
        return traffic.response;
    }

    /** Returns the HTTP status of the last response. */
    final int status() {
        return traffic.status;
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
