package deltasoap.interop;

import java.io.StringReader;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;
import javax.xml.transform.TransformerFactory;

import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import org.apache.cxf.BusFactory;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.helpers.DOMUtils;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.ws.addressing.WSAddressingFeature;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * Serves addressed.wsdl, which requires WS-Addressing, with CXF. Argument: the WSDL's URL.
 *
 * <p>Prints a line {@code listening on URL}, and serves until it is killed.
 */
public final class AddressedServer {
    public static void main(String[] arguments) {
        Logger.getLogger("").setLevel(Level.WARNING);
        Addressed.withoutPolicies();
        String address = "http://localhost:" + Server.freePort() + "/addressed";
        WSAddressingFeature addressing = new WSAddressingFeature();
        addressing.setAddressingRequired(true);
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setBus(BusFactory.getDefaultBus());
        factory.setServiceBean(new Sums());
        factory.setWsdlLocation(arguments[0]);
        factory.setServiceName(new QName(Addressed.NAMESPACE, "Addressed"));
        // A SOAP 1.2 endpoint accepts messages of both versions.
        factory.setEndpointName(new QName(Addressed.NAMESPACE, "Soap12"));
        factory.setAddress(address);
        factory.getFeatures().add(addressing);
        factory.create();
        System.out.println("listening on " + address);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class Sums implements Provider<Source> {
        @Override
        public Source invoke(Source request) {
            Element add = element(request);
            int a = number(add, "a");
            int b = number(add, "b");
            if (a < 0 || b < 0) {
                throw negative(Math.min(a, b));
            }
            String response = "<addResponse xmlns='" + Addressed.NAMESPACE + "'><sum>" + (a + b) + "</sum></addResponse>";
            return new StreamSource(new StringReader(response));
        }

        private static Element element(Source request) {
            try {
                DOMResult tree = new DOMResult();
                TransformerFactory.newInstance().newTransformer().transform(request, tree);
                return ((Document) tree.getNode()).getDocumentElement();
            } catch (javax.xml.transform.TransformerException error) {
                throw new IllegalStateException(error);
            }
        }

        private static int number(Element add, String name) {
            return Integer.parseInt(add.getElementsByTagNameNS(Addressed.NAMESPACE, name).item(0).getTextContent());
        }

        private static SoapFault negative(int number) {
            SoapFault fault = new SoapFault("a number is negative", SoapFault.FAULT_CODE_CLIENT);
            Document document = DOMUtils.createDocument();
            Element detail = document.createElement("detail");
            Element negative = document.createElementNS(Addressed.NAMESPACE, "negative");
            Element value = document.createElementNS(Addressed.NAMESPACE, "number");
            value.setTextContent(Integer.toString(number));
            negative.appendChild(value);
            detail.appendChild(negative);
            fault.setDetail(detail);
            return fault;
        }
    }
}
