package deltasoap.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Array;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.axis.AxisEngine;
import org.apache.axis.Constants;
import org.apache.axis.Message;
import org.apache.axis.MessageContext;
import org.apache.axis.configuration.SimpleProvider;
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
import org.apache.axis.server.AxisServer;
import org.apache.axis.utils.JavaUtils;

/** Apache Axis 1.4: messages with the context that its server gives them, from and to beans. */
public final class Axis implements Toolkit {
    private final AxisServer engine = new AxisServer(new SimpleProvider());
    private final SOAPService service = new SOAPService();
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
        // What is registered for no encoding in particular is what literal messages use.
        TypeMapping types = (TypeMapping) registry.getDefaultTypeMapping();
        register(types, Beans.Mio.class, Beans.Mio.getTypeDesc());
        register(types, Beans.Event.class, Beans.Event.getTypeDesc());
        add(description, "sendInts", "item", Constants.XSD_INT, int[].class);
        add(description, "sendDoubles", "item", Constants.XSD_DOUBLE, double[].class);
        add(description, "sendStrings", "item", Constants.XSD_STRING, String[].class);
        add(description, "sendMios", "item", new QName(Beans.NAMESPACE, "Mio"), Beans.Mio[].class);
        add(description, "sendEvents", "item", new QName(Beans.NAMESPACE, "Event"), Beans.Event[].class);
        add(description, "sendBase64", "data", Constants.XSD_BASE64, byte[].class);
    }

    /** With the argument {@code streaming}, events of the parser go to the beans alone and are not recorded. */
    public static void main(String[] arguments) throws Exception {
        Peer.run(new Axis(arguments.length > 0 && arguments[0].equals("streaming")));
    }

    private static void register(TypeMapping types, Class<?> bean, TypeDesc type) {
        QName name = type.getXmlType();
        types.register(bean, name, new BeanSerializerFactory(bean, name), new BeanDeserializerFactory(bean, name));
    }

    private static void add(JavaServiceDesc description, String operation, String parameter, QName type, Class<?> javaType) {
        ParameterDesc described = new ParameterDesc(new QName("", parameter), ParameterDesc.IN, type, javaType, false, false);
        described.setNillable(false);
        OperationDesc whole = new OperationDesc(operation, new ParameterDesc[] {described}, null);
        whole.setElementQName(new QName(Beans.NAMESPACE, operation));
        whole.setStyle(Style.WRAPPED);
        whole.setUse(Use.LITERAL);
        description.addOperationDesc(whole);
    }

    @Override
    public String name() {
        return isStreaming ? "axis-streaming" : "axis";
    }

    @Override
    public String version() {
        return "1.4";
    }

    /** Its writer spoils characters outside of Unicode's first plane. */
    @Override
    public boolean writes(String kind) {
        return !kind.equals("strings") && !kind.equals("events");
    }

    private MessageContext context(String kind) throws Exception {
        MessageContext context = new MessageContext(engine);
        context.setService(service);
        context.setTypeMappingRegistry(registry);
        context.setHighFidelity(!isStreaming);
        context.setOperation(service.getServiceDescription().getOperationByName(Toolkit.operation(kind)));
        return context;
    }

    /** What the provider of its services does between the message and the method's arguments. */
    @Override
    public Object decode(String kind, byte[] message) throws Exception {
        MessageContext context = context(kind);
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

    /** And with what the method has returned. */
    @Override
    public void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception {
        MessageContext context = context(kind);
        ParameterDesc described = context.getOperation().getParameter(0);
        Object value = kind.equals("doubles64") ? Bits.octets((double[]) values) : values;
        RPCParam parameter = new RPCParam(described.getQName(), value);
        parameter.setParamDesc(described);
        SOAPEnvelope envelope = new SOAPEnvelope();
        envelope.addBodyElement(new RPCElement(Beans.NAMESPACE, Toolkit.operation(kind), new Object[] {parameter}));
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
