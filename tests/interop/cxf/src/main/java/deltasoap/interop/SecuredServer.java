package deltasoap.interop;

import java.io.StringReader;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;

import jakarta.annotation.Resource;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import org.apache.cxf.BusFactory;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.helpers.DOMUtils;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Serves secured/bank.wsdl with CXF, which follows the policies in it. Arguments: the WSDL's URL, and the folder
 * with the keys.
 *
 * <p>Each port has the path /secured/PORT. Prints a line {@code listening on URL}, and serves until it is killed.
 */
public final class SecuredServer {
    private static final String[] PORTS = {"Signed11", "Signed12", "Encrypted11", "Encrypted12", "User11", "User12"};

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        String address = "http://localhost:" + Server.freePort() + "/secured";
        for (String port : PORTS) {
            JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
            factory.setBus(BusFactory.getDefaultBus());
            factory.setServiceBean(new Bank());
            factory.setWsdlLocation(arguments[0]);
            factory.setServiceName(new QName(Secured.NAMESPACE, "Bank"));
            factory.setEndpointName(new QName(Secured.NAMESPACE, port));
            factory.setAddress(address + "/" + port);
            factory.setProperties(new Keys(Path.of(arguments[1])).server());
            factory.create();
        }
        System.out.println("listening on " + address);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class Bank implements Provider<Source> {
        @Resource
        private WebServiceContext context;

        @Override
        public Source invoke(Source request) {
            String amount = amount(request);
            if (amount.startsWith("-")) {
                throw refused();
            }
            String from = context.getUserPrincipal().getName();
            return new StreamSource(new StringReader("<transferResponse xmlns='" + Secured.NAMESPACE + "'><from>" + from
                    + "</from><amount>" + amount + "</amount></transferResponse>"));
        }

        private static String amount(Source request) {
            try {
                DOMResult tree = new DOMResult();
                TransformerFactory.newInstance().newTransformer().transform(request, tree);
                NodeList found = ((Document) tree.getNode()).getElementsByTagNameNS(Secured.NAMESPACE, "amount");
                return found.item(0).getTextContent();
            } catch (javax.xml.transform.TransformerException error) {
                throw new IllegalStateException(error);
            }
        }

        private static SoapFault refused() {
            SoapFault fault = new SoapFault("the amount is negative", SoapFault.FAULT_CODE_CLIENT);
            Document document = DOMUtils.createDocument();
            Element detail = document.createElement("detail");
            Element refused = document.createElementNS(Secured.NAMESPACE, "refused");
            Element limit = document.createElementNS(Secured.NAMESPACE, "limit");
            limit.setTextContent("0");
            refused.appendChild(limit);
            detail.appendChild(refused);
            fault.setDetail(detail);
            return fault;
        }
    }
}
