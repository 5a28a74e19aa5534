package deltasoap.bench;

import deltasoap.bench.composites.ObjectFactory;
import jakarta.xml.bind.annotation.XmlType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The classes that JAXB's compiler generates from composites.wsdl: one per type, with ints, doubles
 * and strings.
 */
final class Composites {
    /** Each is looked up once: finding a class by name takes longer than many messages. */
    private static final Map<String, Class<?>> TYPES = new ConcurrentHashMap<>();

    private Composites() {
    }

    /** Returns the class of a type by its name, such as {@code I2D0S1}. */
    static Class<?> type(String name) {
        return TYPES.computeIfAbsent(name, Composites::load);
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(ObjectFactory.class.getPackageName() + "." + name);
        } catch (ClassNotFoundException unknown) {
            throw new IllegalArgumentException("unknown composite type " + name, unknown);
        }
    }

    static boolean has(Object values) {
        return values.getClass().getPackage() == ObjectFactory.class.getPackage();
    }

    /** Adds the fields in order. */
    static void sum(Object values, Checksum sum) {
        Class<?> type = values.getClass();
        for (String field : type.getAnnotation(XmlType.class).propOrder()) {
            try {
                Object value = type.getMethod("get" + field.toUpperCase()).invoke(values);
                if (value instanceof Integer number) {
                    sum.add(number);
                } else if (value instanceof Double number) {
                    sum.add(number);
                } else {
                    sum.add((String) value);
                }
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }
}
