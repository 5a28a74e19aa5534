package deltasoap.interop;

import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.util.Map;
import java.util.function.UnaryOperator;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

import com.sun.xml.wss.XWSSConstants;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;

/** A port of secured/bank.wsdl, called by Metro. */
final class MetroPort implements SecuredPort {
    /** Adds to a WSDL what a client needs besides. */
    interface Configuration {
        URL apply(URL wsdl) throws Exception;
    }

    private final URI origin;
    private final String path;
    private final Dispatch<Source> dispatch;
    private final Wire wire;

    /** Reads the WSDL from the server, so that it follows the policies that the server publishes. */
    MetroPort(URI origin, String port, Wire wire, Configuration configuration) throws Exception {
        this.origin = origin;
        this.wire = wire;
        path = "/" + port;
        wire.reset();
        URL wsdl = configuration.apply(URI.create(origin + path + "?wsdl").toURL());
        Service service = Service.create(wsdl, new QName(Bank.NAMESPACE, "Bank"));
        dispatch = service.createDispatch(new QName(Bank.NAMESPACE, port), Source.class, Service.Mode.PAYLOAD);
        Map<String, Object> context = dispatch.getRequestContext();
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, "urn:bank:transfer");
        context.put(XWSSConstants.USERNAME_PROPERTY, SecuredTests.USER);
        context.put(XWSSConstants.PASSWORD_PROPERTY, SecuredTests.PASSWORD);
        at("");
    }

    @Override
    public SecuredPort at(String folder) {
        String address = origin + folder + path;
        dispatch.getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, address);
        return this;
    }

    @Override
    public SecuredPort sending(UnaryOperator<String> change) {
        wire.requests = change;
        return this;
    }

    @Override
    public SecuredPort receiving(UnaryOperator<String> change) {
        wire.responses = change;
        return this;
    }

    @Override
    public String transfer(String amount) throws Exception {
        StringWriter response = new StringWriter();
        Source source = dispatch.invoke(new StreamSource(new StringReader(String.format(TRANSFER, amount))));
        TransformerFactory.newInstance().newTransformer().transform(source, new StreamResult(response));
        return response.toString();
    }

    @Override
    public String sent() {
        return wire.request;
    }

    @Override
    public String received() {
        return wire.response;
    }

    @Override
    public int status() {
        return wire.status;
    }
}
