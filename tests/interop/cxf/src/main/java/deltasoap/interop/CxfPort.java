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

/** A port of secured/bank.wsdl, called by CXF. */
final class CxfPort implements SecuredPort {
    private final URI origin;
    private final String path;
    private final Dispatch<Source> dispatch;
    private final Wire wire = new Wire();

    /** Reads the WSDL from the server, so that it follows the policies that the server publishes. */
    CxfPort(URI origin, String port, Map<String, Object> properties) throws Exception {
        this.origin = origin;
        path = "/" + port;
        URI wsdl = URI.create(origin + path + "?wsdl");
        Service service = Service.create(wsdl.toURL(), new QName(Bank.NAMESPACE, "Bank"));
        dispatch = service.createDispatch(new QName(Bank.NAMESPACE, port), Source.class, Service.Mode.PAYLOAD);
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

    @Override
    public SecuredPort at(String folder) {
        dispatch.getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, origin + folder + path);
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

    CxfPort anHourAgo() {
        WSSConfig config = WSSConfig.getNewInstance();
        config.setCurrentTime(() -> Instant.now().minus(Duration.ofHours(1)));
        dispatch.getRequestContext().put(WSSConfig.class.getName(), config);
        return this;
    }

    @Override
    public String transfer(String amount) throws Exception {
        StringWriter response = new StringWriter();
        Source source = dispatch.invoke(new StreamSource(new StringReader(String.format(TRANSFER, amount))));
        if (source == null) {
            throw new IllegalStateException("no response");
        }
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
