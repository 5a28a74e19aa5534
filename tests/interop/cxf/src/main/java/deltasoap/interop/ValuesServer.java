package deltasoap.interop;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.namespace.QName;

import jakarta.xml.ws.soap.SOAPBinding;
import org.apache.cxf.BusFactory;
import org.apache.cxf.headers.Header;
import org.apache.cxf.helpers.CastUtils;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import types.Failure;
import types.Failure_Exception;
import types.Types;

/**
 * Echoes every kind of testdata/wsdl/types.wsdl with CXF. Argument: the WSDL's URL.
 *
 * <p>Prints a line {@code listening on URL}, and serves until it is killed. The path /utf-16
 * answers in UTF-16.
 */
public final class ValuesServer {
    private static final QName TRACE = new QName("urn:types", "Trace");

    public static void main(String[] arguments) {
        Logger.getLogger("").setLevel(Level.WARNING);
        // The default limit is 50,000 child elements.
        System.setProperty("org.apache.cxf.stax.maxChildElements", "1000000");
        String origin = "http://localhost:" + Server.freePort();
        serve(arguments[0], origin + "/types");
        serve(arguments[0], origin + "/utf-16").getOutInterceptors().add(new Server.Utf16());
        System.out.println("listening on " + origin + "/types");
    }

    /** A SOAP 1.2 endpoint accepts messages of both versions. */
    private static org.apache.cxf.endpoint.Endpoint serve(String wsdl, String address) {
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setBus(BusFactory.getDefaultBus());
        factory.setServiceClass(Types.class);
        factory.setServiceBean(Proxy.newProxyInstance(Types.class.getClassLoader(), new Class<?>[] {Types.class}, new Echo()));
        factory.setWsdlLocation(wsdl);
        factory.setServiceName(new QName("urn:types", "Types"));
        factory.setEndpointName(new QName("urn:types", "Soap12"));
        factory.setBindingId(SOAPBinding.SOAP12HTTP_BINDING);
        factory.setAddress(address);
        org.apache.cxf.endpoint.Endpoint endpoint = factory.create().getEndpoint();
        endpoint.getOutInterceptors().add(new Traced());
        return endpoint;
    }

    /** A value in both the request and the response is a holder in CXF, which keeps its value. */
    private static final class Echo implements InvocationHandler {
        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("fail")) {
                throw failure((String) arguments[0]);
            }
            return method.getDeclaringClass() == Object.class ? method.invoke(this, arguments) : null;
        }

        private static Failure_Exception failure(String code) {
            Failure detail = new Failure();
            detail.setCode(code);
            detail.setLimit(code.codePointCount(0, code.length()));
            return new Failure_Exception("this operation always fails", detail);
        }
    }

    /** Answers a header block with one that has one hop more. */
    private static final class Traced extends AbstractPhaseInterceptor<Message> {
        Traced() {
            super(Phase.PRE_PROTOCOL);
        }

        @Override
        public void handleMessage(Message message) {
            Message request = message.getExchange().getInMessage();
            List<Header> blocks = CastUtils.cast((List<?>) request.get(Header.HEADER_LIST));
            if (blocks == null) {
                return;
            }
            List<Header> answers = blocks.stream().filter(block -> block.getName().equals(TRACE)).map(Traced::answer).toList();
            message.put(Header.HEADER_LIST, new java.util.ArrayList<>(answers));
        }

        private static Header answer(Header block) {
            Element element = (Element) ((Element) block.getObject()).cloneNode(true);
            Node hops = element.getElementsByTagName("hops").item(0);
            hops.setTextContent(String.valueOf(Integer.parseInt(hops.getTextContent()) + 1));
            return new Header(TRACE, element);
        }
    }
}
