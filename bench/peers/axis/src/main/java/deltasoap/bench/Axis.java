package deltasoap.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Array;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.namespace.QName;
import org.apache.axis.AxisEngine;
import org.apache.axis.Constants;
import org.apache.axis.Message;
import org.apache.axis.MessageContext;
import org.apache.axis.SimpleTargetedChain;
import org.apache.axis.client.AxisClient;
import org.apache.axis.configuration.SimpleProvider;
import org.apache.axis.constants.Scope;
import org.apache.axis.constants.Style;
import org.apache.axis.constants.Use;
import org.apache.axis.description.JavaServiceDesc;
import org.apache.axis.description.OperationDesc;
import org.apache.axis.description.ParameterDesc;
import org.apache.axis.description.TypeDesc;
import org.apache.axis.encoding.TypeMapping;
import org.apache.axis.encoding.TypeMappingRegistry;
import org.apache.axis.encoding.TypeMappingRegistryImpl;
import org.apache.axis.encoding.ser.BeanDeserializerFactory;
import org.apache.axis.encoding.ser.BeanSerializerFactory;
import org.apache.axis.handlers.soap.SOAPService;
import org.apache.axis.message.RPCElement;
import org.apache.axis.message.RPCParam;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.providers.java.RPCProvider;
import org.apache.axis.server.AxisServer;
import org.apache.axis.transport.http.CommonsHTTPSender;
import org.apache.axis.utils.JavaUtils;

/**
 * Apache Axis 1.4: messages with the context of its server, from and to beans; its servlet and its
 * client.
 */
public final class Axis implements Toolkit {
    private final AxisServer engine = new AxisServer(new SimpleProvider());
    private final SOAPService service = new SOAPService();
    private final SOAPService encoded = new SOAPService();
    private final TypeMappingRegistry registry = new TypeMappingRegistryImpl(true);
    private final boolean isStreaming;

    private Axis(boolean isStreaming) throws Exception {
        this.isStreaming = isStreaming;
        engine.setOption(AxisEngine.PROP_DISABLE_PRETTY_XML, Boolean.TRUE);
        engine.setOption(AxisEngine.PROP_SEND_XSI, Boolean.FALSE);
        engine.setOption(AxisEngine.PROP_DOMULTIREFS, Boolean.FALSE);
        engine.setOption(AxisEngine.PROP_XML_REUSE_SAX_PARSERS, Boolean.TRUE);
        JavaServiceDesc description = new JavaServiceDesc();
        description.setName("Suite");
        description.setStyle(Style.WRAPPED);
        description.setUse(Use.LITERAL);
        service.setName("Suite");
        service.setEngine(engine);
        service.setServiceDescription(description);
        service.setHighFidelityRecording(!isStreaming);
        description.setTypeMappingRegistry(registry);
        // Registrations without an encoding apply to literal messages.
        TypeMapping types = (TypeMapping) registry.getDefaultTypeMapping();
        register(types, Beans.Mio.class, Beans.Mio.getTypeDesc());
        register(types, Beans.Event.class, Beans.Event.getTypeDesc());
        Operations.of("Ints", Constants.XSD_INT, int[].class).forEach(description::addOperationDesc);
        Operations.of("Doubles", Constants.XSD_DOUBLE, double[].class).forEach(description::addOperationDesc);
        Operations.of("Strings", Constants.XSD_STRING, String[].class).forEach(description::addOperationDesc);
        Operations.of("Mios", new QName(Beans.NAMESPACE, "Mio"), Beans.Mio[].class).forEach(description::addOperationDesc);
        Operations.of("Events", new QName(Beans.NAMESPACE, "Event"), Beans.Event[].class).forEach(description::addOperationDesc);
        Operations.of("Base64", Constants.XSD_BASE64, byte[].class).forEach(description::addOperationDesc);
        description.addOperationDesc(Operations.echoVoid());
        JavaServiceDesc encodedDescription = new JavaServiceDesc();
        encodedDescription.setName("SuiteEncoded");
        encodedDescription.setStyle(Style.RPC);
        encodedDescription.setUse(Use.ENCODED);
        encodedDescription.setTypeMappingRegistry(registry);
        Operations.encoded().forEach(encodedDescription::addOperationDesc);
        encoded.setName("SuiteEncoded");
        encoded.setEngine(engine);
        encoded.setServiceDescription(encodedDescription);
        encoded.setHighFidelityRecording(!isStreaming);
        // Axis's own behaviour for encoded messages.
        encoded.setOption(AxisEngine.PROP_DOMULTIREFS, Boolean.TRUE);
    }

    private SOAPService service(String operation) {
        return Operations.isEncoded(operation) ? encoded : service;
    }

    /**
     * With the argument {@code streaming}, events of the parser go only to the beans and are not
     * recorded.
     */
    public static void main(String[] arguments) throws Exception {
        Peer.run(new Axis(arguments.length > 0 && arguments[0].equals("streaming")));
    }

    private static void register(TypeMapping types, Class<?> bean, TypeDesc type) {
        QName name = type.getXmlType();
        types.register(bean, name, new BeanSerializerFactory(bean, name), new BeanDeserializerFactory(bean, name));
    }

    @Override
    public String name() {
        return isStreaming ? "axis-streaming" : "axis";
    }

    @Override
    public String version() {
        return "1.4";
    }

    /** Its writer corrupts other characters: it writes two references to their halves. */
    @Override
    public boolean knowsBasicPlaneAlone() {
        return true;
    }

    @Override
    public List<String> kinds() {
        return Stream.concat(Toolkit.super.kinds().stream(), Stream.of("encoded", "repeated")).toList();
    }

    @Override
    public List<String> operations() {
        return Operations.NAMES;
    }

    @Override
    public List<String> calls() {
        return Operations.NAMES;
    }

    /**
     * Its servlet in Jetty, with the engine that is created here instead of one from a deployment
     * descriptor.
     */
    @Override
    public int serve(int connections, Transport transport) throws Exception {
        return Http.serve(engine, served(service, SuiteService.class), served(encoded, SuiteEncodedService.class));
    }

    private SOAPService served(SOAPService described, Class<?> operations) {
        SOAPService served = new SOAPService(new RPCProvider());
        served.setName(described.getName());
        served.setEngine(engine);
        served.setServiceDescription(described.getServiceDescription());
        served.setHighFidelityRecording(!isStreaming);
        served.setOption(AxisEngine.PROP_DOMULTIREFS, described.getOption(AxisEngine.PROP_DOMULTIREFS));
        served.setOption(RPCProvider.OPTION_CLASSNAME, operations.getName());
        served.setOption(RPCProvider.OPTION_ALLOWEDMETHODS, "*");
        served.setOption(RPCProvider.OPTION_SCOPE, Scope.APPLICATION.getName());
        return served;
    }

    @Override
    public Call client(int port, Transport transport, String operation, Object content) throws Exception {
        SimpleProvider configuration = new SimpleProvider();
        configuration.deployTransport("http", new SimpleTargetedChain(new CommonsHTTPSender()));
        AxisClient client = new AxisClient(configuration);
        engine.getOptions().forEach((name, value) -> client.setOption((String) name, value));
        org.apache.axis.client.Service calls = new org.apache.axis.client.Service(configuration, client);
        org.apache.axis.client.Call call = (org.apache.axis.client.Call) calls.createCall();
        call.setTargetEndpointAddress(transport.address(port));
        call.setSOAPActionURI("urn:bench#" + operation);
        call.setUseSOAPAction(true);
        OperationDesc described = service(operation).getServiceDescription().getOperationByName(operation);
        call.setOperation(described);
        call.setOperationName(described.getElementQName());
        call.setStreaming(isStreaming);
        TypeMapping types = (TypeMapping) call.getTypeMapping();
        register(types, Beans.Mio.class, Beans.Mio.getTypeDesc());
        register(types, Beans.Event.class, Beans.Event.getTypeDesc());
        Object[] arguments = content == null ? new Object[0] : new Object[] {content};
        Class<?> type = described.getReturnClass();
        return () -> {
            Object answer = call.invoke(arguments);
            return type == null || type == void.class ? null : JavaUtils.convert(answer, type);
        };
    }

    private MessageContext context(String kind, boolean isStreaming) throws Exception {
        MessageContext context = new MessageContext(engine);
        SOAPService meant = service(Toolkit.operation(kind));
        context.setService(meant);
        context.setTypeMappingRegistry(registry);
        context.setHighFidelity(!isStreaming);
        context.setOperation(meant.getServiceDescription().getOperationByName(Toolkit.operation(kind)));
        return context;
    }

    /** The work of its services' provider between the message and the method's arguments. */
    @Override
    public Object decode(String kind, byte[] message) throws Exception {
        return decode(context(kind, isStreaming), kind, message);
    }

    /** Without streaming, whose time grows with the square of the items. */
    @Override
    public Object values(String kind, byte[] message) throws Exception {
        return decode(context(kind, false), kind, message);
    }

    private static Object decode(MessageContext context, String kind, byte[] message) throws Exception {
        Message request = new Message(new ByteArrayInputStream(message));
        context.setRequestMessage(request);
        RPCElement body = (RPCElement) request.getSOAPEnvelope().getFirstBody();
        if (!Toolkit.operation(kind).equals(body.getMethodName())) {
            throw new IllegalArgumentException(body.getMethodName() + " is another operation");
        }
        Class<?> type = context.getOperation().getParameter(0).getJavaType();
        List<?> parameters = body.getParams();
        Object value = parameters.isEmpty() ? null : ((RPCParam) parameters.get(0)).getObjectValue();
        Object array = value == null ? Array.newInstance(type.getComponentType(), 0) : JavaUtils.convert(value, type);
        return kind.equals("doubles64") ? Bits.doubles((byte[]) array) : array;
    }

    /** The provider's work with the method's result. */
    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        MessageContext context = context(kind, isStreaming);
        ParameterDesc described = context.getOperation().getParameter(0);
        Object value = kind.equals("doubles64") ? Bits.octets((double[]) values) : values;
        RPCParam parameter = new RPCParam(described.getQName(), value);
        parameter.setParamDesc(described);
        SOAPEnvelope envelope = new SOAPEnvelope();
        RPCElement body = new RPCElement(Beans.NAMESPACE, Toolkit.operation(kind), new Object[] {parameter});
        body.setEncodingStyle(context.getEncodingStyle());
        envelope.addBodyElement(body);
        Message response = new Message(envelope);
        context.setPastPivot(true);
        context.setResponseMessage(response);
        response.writeTo(out);
    }

    @Override
    public void sum(String kind, Object values, Checksum sum) {
        if (values instanceof byte[] octets) {
            sum.add(octets);
            return;
        }
        for (int i = 0; i < Array.getLength(values); i++) {
            add(Array.get(values, i), sum);
        }
    }

    private static void add(Object item, Checksum sum) {
        if (item instanceof Integer number) {
            sum.add(number.intValue());
        } else if (item instanceof Double number) {
            sum.add(number.doubleValue());
        } else if (item instanceof Beans.Mio mio) {
            sum.add(mio.getX());
            sum.add(mio.getY());
            sum.add(mio.getV());
        } else if (item instanceof Beans.Event event) {
            sum.add(event.getId());
            sum.add(event.getValue());
            sum.add(event.getMessage());
        } else {
            sum.add((String) item);
        }
    }
}
