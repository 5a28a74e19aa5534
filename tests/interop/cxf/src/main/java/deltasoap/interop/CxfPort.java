package deltasoap.interop;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxws.DispatchImpl;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.wss4j.dom.engine.WSSConfig;

/** A port of secured/bank.wsdl, called by CXF. */
final class CxfPort extends SecuredPort {
    /**
     * Reads the WSDL from the server, so that it follows the policies that the server publishes.
     */
    CxfPort(URI origin, String port, Map<String, Object> properties) throws Exception {
        this(origin, port, properties, new Wire());
    }

    private CxfPort(URI origin, String port, Map<String, Object> properties, Wire wire) throws Exception {
        super(origin, port, published(origin, port), wire);
        Map<String, Object> context = dispatch.getRequestContext();
        context.putAll(properties);
        // Otherwise the sender's faults in SOAP 1.2, which have this status, are not read.
        context.put(HTTPConduit.PROCESS_FAULT_ON_HTTP_400, true);
        Client client = ((DispatchImpl<?>) dispatch).getClient();
        client.getOutInterceptors().add(wire.new Out());
        client.getInInterceptors().add(wire.new In());
    }

    CxfPort anHourAgo() {
        WSSConfig config = WSSConfig.getNewInstance();
        config.setCurrentTime(() -> Instant.now().minus(Duration.ofHours(1)));
        dispatch.getRequestContext().put(WSSConfig.class.getName(), config);
        return this;
    }
}
