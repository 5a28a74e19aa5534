package deltasoap.interop;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import bench.Bench;
import bench.Bench_Service;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.handler.MessageContext;
import org.apache.cxf.configuration.jsse.TLSClientParameters;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.message.Message;
import org.apache.cxf.transport.common.gzip.GZIPFeature;
import org.apache.cxf.transport.http.HTTPConduit;

/** The service in one version of SOAP, and the settings of a client of it. */
final class Endpoint {
    final String version;
    final Bench bench;
    private final String url;

    Endpoint(String version, String url, WebServiceFeature... features) throws Exception {
        this.version = version;
        this.url = url;
        Bench_Service service = new Bench_Service(URI.create(url + "?wsdl").toURL());
        bench = version.equals("1.1") ? service.getSoap11(features) : service.getSoap12(features);
    }

    /** Creates another client of the same service. */
    Endpoint another(WebServiceFeature... features) throws Exception {
        return new Endpoint(version, url, features);
    }

    Endpoint encoding(String encoding) {
        ((BindingProvider) bench).getRequestContext().put(Message.ENCODING, encoding);
        return this;
    }

    Endpoint chunking(boolean isChunking) {
        conduit().getClient().setAllowChunking(isChunking);
        return this;
    }

    Endpoint compressing() {
        GZIPFeature gzip = new GZIPFeature();
        gzip.setThreshold(0);
        gzip.setForce(true);
        gzip.initialize(client(), client().getBus());
        return this;
    }

    /** Trusts one authority, or those of the system if there is none. */
    Endpoint secure(String tlsUrl, Path authority) throws Exception {
        ((BindingProvider) bench).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, tlsUrl);
        TLSClientParameters tls = new TLSClientParameters();
        if (authority != null) {
            tls.setTrustManagers(Pem.trust(authority));
        }
        conduit().setTlsClientParameters(tls);
        return this;
    }

    /** Returns a header of the last response. */
    String header(String name) {
        @SuppressWarnings("unchecked")
        Map<String, List<String>> headers = (Map<String, List<String>>)
                ((BindingProvider) bench).getResponseContext().get(MessageContext.HTTP_RESPONSE_HEADERS);
        return headers.entrySet().stream()
                .filter(header -> name.equalsIgnoreCase(header.getKey()))
                .map(header -> header.getValue().get(0))
                .findFirst()
                .orElse("");
    }

    private HTTPConduit conduit() {
        return (HTTPConduit) client().getConduit();
    }

    private Client client() {
        return ClientProxy.getClient(bench);
    }
}
