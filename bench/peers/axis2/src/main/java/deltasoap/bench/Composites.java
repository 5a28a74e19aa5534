package deltasoap.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLStreamReader;
import org.apache.axis2.databinding.ADBBean;

/**
 * The beans that Axis2's data binding generates from composites.wsdl: one per type, with ints,
 * doubles and strings.
 */
final class Composites {
    private static final String PACKAGE = "deltasoap.bench.composites.";
    private static final Pattern NAME = Pattern.compile("I(\\d+)D(\\d+)S(\\d+)");
    /** Each is looked up once: finding a class by name takes longer than many messages. */
    private static final Map<String, Type> TYPES = new ConcurrentHashMap<>();

    private Composites() {
    }

    /** Returns a type by its name, such as {@code I2D0S1}. */
    static Type type(String name) {
        return TYPES.computeIfAbsent(name, Type::new);
    }

    static final class Type {
        private final Class<?> bean;
        private final MethodHandle parse;
        private final int ints;
        private final int doubles;
        private final int strings;

        private Type(String name) {
            Matcher counts = NAME.matcher(name);
            if (!counts.matches()) {
                throw new IllegalArgumentException("no composite type " + name);
            }
            ints = Integer.parseInt(counts.group(1));
            doubles = Integer.parseInt(counts.group(2));
            strings = Integer.parseInt(counts.group(3));
            try {
                bean = Class.forName(PACKAGE + name);
                parse = MethodHandles.lookup()
                        .findStatic(Class.forName(PACKAGE + name + "$Factory"), "parse", MethodType.methodType(bean, XMLStreamReader.class))
                        .asType(MethodType.methodType(ADBBean.class, XMLStreamReader.class));
            } catch (ReflectiveOperationException unknown) {
                throw new IllegalArgumentException("unknown composite type " + name, unknown);
            }
        }

        ADBBean read(XMLStreamReader xml) throws Exception {
            try {
                return (ADBBean) parse.invokeExact(xml);
            } catch (Exception | Error failure) {
                throw failure;
            } catch (Throwable impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        /** Adds the fields in order. */
        void sum(Object values, Checksum sum) {
            for (int i = 0; i < ints; i++) {
                sum.add((int) get(values, "I" + i));
            }
            for (int i = 0; i < doubles; i++) {
                sum.add((double) get(values, "D" + i));
            }
            for (int i = 0; i < strings; i++) {
                sum.add((String) get(values, "S" + i));
            }
        }

        private Object get(Object values, String field) {
            try {
                return bean.getMethod("get" + field).invoke(values);
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }
}
