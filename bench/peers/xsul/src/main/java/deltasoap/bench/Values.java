package deltasoap.bench;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.xmlpull.v1.builder.XmlElement;

/** The items of a message, as a program has them: arrays, each with its way into XSUL's tree and out of it. */
abstract class Values {
    /** Adds all items to the operation's element. */
    abstract void write(XmlElement operation);

    abstract String checksum();

    /** The values of a kind of workload in an operation's element. */
    static Values read(String kind, XmlElement operation) {
        List<XmlElement> items = elements(operation);
        return switch (kind) {
            case "ints" -> {
                expect(operation, "sendInts");
                yield new Ints(items.stream().mapToInt(item -> Integer.parseInt(text(item).trim())).toArray());
            }
            case "easy", "hard" -> {
                expect(operation, "sendDoubles");
                yield new Doubles(items.stream().mapToDouble(item -> parseDouble(text(item).trim())).toArray());
            }
            case "structs" -> {
                expect(operation, "sendMios");
                yield new Structs(items.stream().map(Values::mio).toArray(Mio[]::new));
            }
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
    }

    /** A mesh interface object. */
    record Mio(int x, int y, double v) {}

    private static final class Ints extends Values {
        private final int[] items;

        Ints(int[] items) {
            this.items = items;
        }

        @Override
        void write(XmlElement operation) {
            operation.ensureChildrenCapacity(items.length);
            for (int item : items) {
                operation.addElement("item").addChild(Integer.toString(item));
            }
        }

        @Override
        String checksum() {
            Checksum sum = new Checksum();
            for (int item : items) {
                sum.add(item);
            }
            return sum.hex();
        }
    }

    private static final class Doubles extends Values {
        private final double[] items;

        Doubles(double[] items) {
            this.items = items;
        }

        @Override
        void write(XmlElement operation) {
            operation.ensureChildrenCapacity(items.length);
            for (double item : items) {
                operation.addElement("item").addChild(printDouble(item));
            }
        }

        @Override
        String checksum() {
            Checksum sum = new Checksum();
            for (double item : items) {
                sum.add(item);
            }
            return sum.hex();
        }
    }

    private static final class Structs extends Values {
        private final Mio[] items;

        Structs(Mio[] items) {
            this.items = items;
        }

        @Override
        void write(XmlElement operation) {
            operation.ensureChildrenCapacity(items.length);
            for (Mio item : items) {
                XmlElement element = operation.addElement("item");
                element.addElement("x").addChild(Integer.toString(item.x()));
                element.addElement("y").addChild(Integer.toString(item.y()));
                element.addElement("v").addChild(printDouble(item.v()));
            }
        }

        @Override
        String checksum() {
            Checksum sum = new Checksum();
            for (Mio item : items) {
                sum.add(item.x());
                sum.add(item.y());
                sum.add(item.v());
            }
            return sum.hex();
        }
    }

    private static void expect(XmlElement operation, String name) {
        if (!name.equals(operation.getName())) {
            throw new IllegalArgumentException("not " + name + " but " + operation.getName());
        }
    }

    private static List<XmlElement> elements(XmlElement parent) {
        List<XmlElement> elements = new ArrayList<>();
        for (Iterator<?> children = parent.children(); children.hasNext(); ) {
            if (children.next() instanceof XmlElement element) {
                elements.add(element);
            }
        }
        return elements;
    }

    private static Mio mio(XmlElement item) {
        List<XmlElement> fields = elements(item);
        int x = Integer.parseInt(text(fields.get(0)));
        int y = Integer.parseInt(text(fields.get(1)));
        return new Mio(x, y, parseDouble(text(fields.get(2))));
    }

    private static String text(XmlElement element) {
        StringBuilder text = new StringBuilder();
        for (Iterator<?> children = element.children(); children.hasNext(); ) {
            text.append(children.next());
        }
        return text.toString();
    }

    /** Java's words for infinity are not XML Schema's. */
    private static double parseDouble(String text) {
        return switch (text) {
            case "INF" -> Double.POSITIVE_INFINITY;
            case "-INF" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    private static String printDouble(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "INF" : "-INF";
        }
        return Double.toString(value);
    }
}
