package deltasoap.interop;

import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.xml.namespace.QName;

import jakarta.annotation.Resource;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import org.apache.cxf.BusFactory;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;

/**
 * Serves secured/bank.wsdl with CXF, which follows the policies in it. Arguments: the WSDL's URL,
 * and the folder with the keys.
 *
 * <p>Each port has the path /secured/PORT. Prints a line {@code listening on URL}, and serves until
 * it is killed.
 */
public final class SecuredServer {
    private static final String[] PORTS = {"Signed11", "Signed12", "Encrypted11", "Encrypted12", "User11", "User12"};

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        String address = "http://localhost:" + Server.freePort() + "/secured";
        for (String port : PORTS) {
            JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
            factory.setBus(BusFactory.getDefaultBus());
            factory.setServiceBean(new CxfBank(port.endsWith("12")));
            factory.setWsdlLocation(arguments[0]);
            factory.setServiceName(new QName(Bank.NAMESPACE, "Bank"));
            factory.setEndpointName(new QName(Bank.NAMESPACE, port));
            factory.setAddress(address + "/" + port);
            factory.setProperties(new Keys(Path.of(arguments[1])).server());
            factory.create();
        }
        System.out.println("listening on " + address);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class CxfBank extends Bank {
        @Resource
        private WebServiceContext context;

        CxfBank(boolean isSoap12) {
            super(isSoap12);
        }

        @Override
        String sender() {
            return context.getUserPrincipal().getName();
        }
    }
}
