package deltasoap.interop;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.security.auth.Subject;
import javax.xml.namespace.QName;
import javax.xml.transform.stream.StreamSource;

import com.sun.net.httpserver.HttpServer;
import com.sun.xml.wss.impl.MessageConstants;
import jakarta.annotation.Resource;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.soap.SOAPBinding;

/**
 * Serves secured/bank.wsdl with Metro, which follows the policies in it. Arguments: the WSDL's URL,
 * and the folder with the keys.
 *
 * <p>Each port has the path /secured/PORT. Prints a line {@code listening on URL}, and serves until
 * it is killed.
 */
public final class SecuredServer {
    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        URL wsdl = new Keys(Path.of(arguments[1])).server(URI.create(arguments[0]).toURL());
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        for (String policy : List.of("Signed", "User")) {
            publish(server, wsdl, policy, SOAPBinding.SOAP11HTTP_BINDING);
            publish(server, wsdl, policy, SOAPBinding.SOAP12HTTP_BINDING);
        }
        server.start();
        System.out.println("listening on http://localhost:" + server.getAddress().getPort() + "/secured");
    }

    private static void publish(HttpServer server, URL wsdl, String policy, String binding) {
        boolean isSoap12 = binding.equals(SOAPBinding.SOAP12HTTP_BINDING);
        String port = policy + (isSoap12 ? "12" : "11");
        Endpoint endpoint = Endpoint.create(binding, new MetroBank(policy.equals("User"), isSoap12));
        endpoint.setMetadata(List.of(new StreamSource(wsdl.toString())));
        endpoint.setProperties(Map.of(Endpoint.WSDL_SERVICE, new QName(Bank.NAMESPACE, "Bank"),
                Endpoint.WSDL_PORT, new QName(Bank.NAMESPACE, port)));
        endpoint.publish(server.createContext("/secured/" + port));
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class MetroBank extends Bank {
        private final boolean hasUsers;
        @Resource
        private WebServiceContext context;

        MetroBank(boolean hasUsers, boolean isSoap12) {
            super(isSoap12);
            this.hasUsers = hasUsers;
        }

        /** Users are the common names of principals. */
        @Override
        String sender() {
            Subject subject = (Subject) context.getMessageContext().get(MessageConstants.AUTH_SUBJECT);
            String name = subject.getPrincipals().iterator().next().getName();
            return hasUsers ? name.replaceFirst("CN=", "") : name;
        }
    }
}
