package deltasoap.interop;

import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.WebServiceException;
import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.soap.AddressingFeature;
import org.apache.cxf.BusFactory;
import org.apache.cxf.jaxws.DispatchImpl;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.ws.addressing.AddressingProperties;
import org.apache.cxf.ws.addressing.AttributedURIType;
import org.apache.cxf.ws.addressing.ContextUtils;
import org.apache.cxf.ws.addressing.JAXWSAConstants;
import org.apache.cxf.ws.policy.PolicyEngine;

/**
 * Calls the service /addressed of our server, which requires WS-Addressing, with CXF.
 *
 * <p>Argument: its URL. Prints one JSON object per test; tests/interop/README.md documents it.
 */
public final class Addressed {
    static final String NAMESPACE = "urn:addressed";
    /**
     * Where our server may send replies: the number of a port, without the digits of the version.
     */
    private static final String REPLIES = "http://localhost:184";

    private final URL wsdl;
    private final String version;

    private Addressed(URL wsdl, String version) {
        this.wsdl = wsdl;
        this.version = version;
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        withoutPolicies();
        URL wsdl = URI.create(arguments[0] + "?wsdl").toURL();
        new Addressed(wsdl, "1.1").run();
        new Addressed(wsdl, "1.2").run();
        // Jetty's threads would keep the program running.
        System.exit(0);
    }

    /**
     * Leaves WS-Addressing to the settings here: the module of WS-Security brings that of
     * WS-Policy, which would follow the policy of the WSDL.
     */
    static void withoutPolicies() {
        BusFactory.getDefaultBus().getExtension(PolicyEngine.class).setEnabled(false);
    }

    private void run() {
        Tests<Void> tests = new Tests<>();
        tests.add("addressing calls", "responses name their request", endpoint -> call());
        tests.add("addressing calls", "a response comes to another endpoint", endpoint -> callDecoupled());
        tests.add("addressing faults", "declared faults have their action", endpoint -> fail());
        tests.add("addressing faults", "requests without header blocks are refused", endpoint -> refuse());
        tests.run(version);
    }

    private void call() throws Exception {
        Dispatch<Source> dispatch = dispatch(new AddressingFeature(true, true));
        Tests.expect(add(dispatch, 2, 3).contains(">5<"), true, "sum");
        expectReply(dispatch, "urn:addressed:Sums:addResponse");
    }

    private void callDecoupled() throws Exception {
        Dispatch<Source> dispatch = dispatch(new AddressingFeature(true, true));
        HTTPConduit conduit = (HTTPConduit) ((DispatchImpl<?>) dispatch).getClient().getConduit();
        conduit.getClient().setDecoupledEndpoint(REPLIES + version.replace(".", "") + "/decoupled");
        Tests.expect(add(dispatch, 2, 3).contains(">5<"), true, "sum");
        expectReply(dispatch, "urn:addressed:Sums:addResponse");
    }

    private void fail() throws Exception {
        Dispatch<Source> dispatch = dispatch(new AddressingFeature(true, true));
        try {
            add(dispatch, 2, -3);
        } catch (WebServiceException fault) {
            Tests.expect(fault.getCause().getMessage(), "a number is negative", "reason");
            return;
        }
        throw new Tests.AssertionFailure("no fault");
    }

    private void refuse() throws Exception {
        try {
            add(dispatch(new AddressingFeature(false)), 2, 3);
        } catch (WebServiceException fault) {
            Tests.expect(fault.getCause().getMessage(), "the header block wsa:Action is required", "reason");
            return;
        }
        throw new Tests.AssertionFailure("no fault");
    }

    private Dispatch<Source> dispatch(WebServiceFeature feature) {
        Service service = Service.create(wsdl, new QName(NAMESPACE, "Addressed"));
        QName port = new QName(NAMESPACE, "Soap" + version.replace(".", ""));
        Dispatch<Source> dispatch = service.createDispatch(port, Source.class, Service.Mode.PAYLOAD, feature);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_URI_PROPERTY, "urn:addressed:sum");
        // Otherwise the sender's faults in SOAP 1.2, which have this status, are not read.
        dispatch.getRequestContext().put(HTTPConduit.PROCESS_FAULT_ON_HTTP_400, true);
        return dispatch;
    }

    private static String add(Dispatch<Source> dispatch, int a, int b) throws Exception {
        String request = "<add xmlns='" + NAMESPACE + "'><a>" + a + "</a><b>" + b + "</b></add>";
        AddressingProperties properties = new AddressingProperties();
        AttributedURIType id = new AttributedURIType();
        id.setValue(ContextUtils.generateUUID());
        properties.setMessageID(id);
        dispatch.getRequestContext().put(JAXWSAConstants.CLIENT_ADDRESSING_PROPERTIES, properties);
        StringWriter response = new StringWriter();
        Source source = dispatch.invoke(new StreamSource(new StringReader(request)));
        TransformerFactory.newInstance().newTransformer().transform(source, new StreamResult(response));
        return response.toString();
    }

    private static void expectReply(Dispatch<Source> dispatch, String action) {
        Object sent = dispatch.getRequestContext().get(JAXWSAConstants.CLIENT_ADDRESSING_PROPERTIES);
        Object received = dispatch.getResponseContext().get(JAXWSAConstants.CLIENT_ADDRESSING_PROPERTIES_INBOUND);
        AddressingProperties reply = (AddressingProperties) received;
        Tests.expect(reply.getAction().getValue(), action, "action");
        String id = ((AddressingProperties) sent).getMessageID().getValue();
        Tests.expect(reply.getRelatesTo().getValue(), id, "related message");
    }
}
