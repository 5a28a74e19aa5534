package deltasoap.interop;

import java.io.StringReader;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;

import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.soap.SOAPFaultException;
import org.w3c.dom.Document;

/** The service of secured/bank.wsdl, whatever the toolkit. */
abstract class Bank implements Provider<Source> {
    static final String NAMESPACE = "urn:bank";

    private final boolean isSoap12;

    Bank(boolean isSoap12) {
        this.isSoap12 = isSoap12;
    }

    /** Returns who sent the request, as the toolkit has found. */
    abstract String sender();

    @Override
    public final Source invoke(Source request) {
        try {
            String amount = amount(request);
            if (amount.startsWith("-")) {
                throw new SOAPFaultException(refused());
            }
            return new StreamSource(new StringReader("<transferResponse xmlns='" + NAMESPACE + "'><from>" + sender()
                    + "</from><amount>" + amount + "</amount></transferResponse>"));
        } catch (SOAPException | TransformerException error) {
            throw new IllegalStateException(error);
        }
    }

    private static String amount(Source request) throws TransformerException {
        DOMResult tree = new DOMResult();
        TransformerFactory.newInstance().newTransformer().transform(request, tree);
        return ((Document) tree.getNode()).getElementsByTagNameNS(NAMESPACE, "amount").item(0).getTextContent();
    }

    private SOAPFault refused() throws SOAPException {
        String protocol = isSoap12 ? SOAPConstants.SOAP_1_2_PROTOCOL : SOAPConstants.SOAP_1_1_PROTOCOL;
        QName client = new QName(SOAPConstants.URI_NS_SOAP_1_1_ENVELOPE, "Client");
        QName code = isSoap12 ? SOAPConstants.SOAP_SENDER_FAULT : client;
        SOAPFault fault = SOAPFactory.newInstance(protocol).createFault("the amount is negative", code);
        QName refused = new QName(NAMESPACE, "refused");
        fault.addDetail().addDetailEntry(refused).addChildElement(new QName(NAMESPACE, "limit")).addTextNode("0");
        return fault;
    }
}
