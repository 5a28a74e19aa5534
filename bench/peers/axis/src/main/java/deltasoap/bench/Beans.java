package deltasoap.bench;

import javax.xml.namespace.QName;
import org.apache.axis.Constants;
import org.apache.axis.description.ElementDesc;
import org.apache.axis.description.TypeDesc;

/**
 * The classes that Axis fills and writes: beans, each with metadata of its type, as Axis's WSDL
 * compiler generates them.
 */
public final class Beans {
    static final String NAMESPACE = "urn:bench";

    private Beans() {
    }

    /** A mesh interface object. */
    public static final class Mio {
        private int x;
        private int y;
        private double v;

        public int getX() {
            return x;
        }

        public void setX(int x) {
            this.x = x;
        }

        public int getY() {
            return y;
        }

        public void setY(int y) {
            this.y = y;
        }

        public double getV() {
            return v;
        }

        public void setV(double v) {
            this.v = v;
        }

        public static TypeDesc getTypeDesc() {
            TypeDesc type = type(Mio.class, "Mio");
            type.addFieldDesc(field("x", Constants.XSD_INT));
            type.addFieldDesc(field("y", Constants.XSD_INT));
            type.addFieldDesc(field("v", Constants.XSD_DOUBLE));
            return type;
        }
    }

    /** A simple event. */
    public static final class Event {
        private int id;
        private double value;
        private String message;

        public int getId() {
            return id;
        }

        public void setId(int id) {
            this.id = id;
        }

        public double getValue() {
            return value;
        }

        public void setValue(double value) {
            this.value = value;
        }

        public String getMessage() {
            return message;
        }

        public void setMessage(String message) {
            this.message = message;
        }

        public static TypeDesc getTypeDesc() {
            TypeDesc type = type(Event.class, "Event");
            type.addFieldDesc(field("id", Constants.XSD_INT));
            type.addFieldDesc(field("value", Constants.XSD_DOUBLE));
            type.addFieldDesc(field("message", Constants.XSD_STRING));
            return type;
        }
    }

    private static TypeDesc type(Class<?> bean, String name) {
        TypeDesc type = new TypeDesc(bean, true);
        type.setXmlType(new QName(NAMESPACE, name));
        return type;
    }

    private static ElementDesc field(String name, QName type) {
        ElementDesc field = new ElementDesc();
        field.setFieldName(name);
        field.setXmlName(new QName("", name));
        field.setXmlType(type);
        field.setNillable(false);
        return field;
    }
}
