package deltasoap.bench;

import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** The operations of suite.wsdl. */
public final class SuiteService {
    public void echoVoid() {
    }

    public int[] echoInts(int[] item) {
        return item;
    }

    public double[] echoDoubles(double[] item) {
        return item;
    }

    public String[] echoStrings(String[] item) {
        return item;
    }

    public Beans.Mio[] echoMios(Beans.Mio[] item) {
        return item;
    }

    public Beans.Event[] echoEvents(Beans.Event[] item) {
        return item;
    }

    public byte[] echoBase64(byte[] data) {
        return data;
    }

    public int sendInts(int[] item) {
        return item == null ? 0 : item.length;
    }

    public int sendDoubles(double[] item) {
        return item == null ? 0 : item.length;
    }

    public int sendStrings(String[] item) {
        return length(item);
    }

    public int sendMios(Beans.Mio[] item) {
        return length(item);
    }

    public int sendEvents(Beans.Event[] item) {
        return length(item);
    }

    public int sendBase64(byte[] data) {
        return data == null ? 0 : data.length;
    }

    public int[] receiveInts(int count) {
        return IntStream.rangeClosed(1, count).toArray();
    }

    public double[] receiveDoubles(int count) {
        return IntStream.rangeClosed(1, count).mapToDouble(Math::sqrt).toArray();
    }

    public String[] receiveStrings(int count) {
        return items(count, SuiteService::text, String[]::new);
    }

    public Beans.Mio[] receiveMios(int count) {
        return items(count, SuiteService::mio, Beans.Mio[]::new);
    }

    public Beans.Event[] receiveEvents(int count) {
        return items(count, SuiteService::event, Beans.Event[]::new);
    }

    public byte[] receiveBase64(int count) {
        byte[] octets = new byte[count];
        for (int i = 0; i < count; i++) {
            octets[i] = (byte) i;
        }
        return octets;
    }

    private static int length(Object[] items) {
        return items == null ? 0 : items.length;
    }

    private static <T> T[] items(int count, IntFunction<T> item, IntFunction<T[]> array) {
        return IntStream.rangeClosed(1, count).mapToObj(item).toArray(array);
    }

    private static String text(int i) {
        String text = "Message #" + i;
        return text + ".".repeat(100 - text.length());
    }

    private static Beans.Mio mio(int i) {
        Beans.Mio mio = new Beans.Mio();
        mio.setX(i);
        mio.setY(i);
        mio.setV(Math.sqrt(i));
        return mio;
    }

    private static Beans.Event event(int i) {
        Beans.Event event = new Beans.Event();
        event.setId(i);
        event.setValue(Math.sqrt(i));
        event.setMessage("Message #" + i);
        return event;
    }
}
