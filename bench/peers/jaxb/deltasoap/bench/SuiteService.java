package deltasoap.bench;

import deltasoap.bench.suite.Event;
import deltasoap.bench.suite.Mio;
import deltasoap.bench.suite.Suite;
import jakarta.jws.WebService;
import jakarta.xml.ws.Holder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The service of suite.wsdl, with the interface that is generated from it. If the response has the
 * request's element, one parameter is used for both, so that an echo has nothing to do.
 */
@WebService(endpointInterface = "deltasoap.bench.suite.Suite", targetNamespace = "urn:bench", serviceName = "Suite", portName = "Suite")
public class SuiteService implements Suite {
    /** All operations. */
    static final List<String> OPERATIONS = List.of("echoVoid", "echoInts", "echoDoubles", "echoStrings", "echoMios", "echoEvents",
            "echoBase64", "sendInts", "sendDoubles", "sendStrings", "sendMios", "sendEvents", "sendBase64", "receiveInts",
            "receiveDoubles", "receiveStrings", "receiveMios", "receiveEvents", "receiveBase64");

    @Override
    public void echoVoid() {
    }

    @Override
    public void echoInts(Holder<List<Integer>> item) {
    }

    @Override
    public void echoDoubles(Holder<List<Double>> item) {
    }

    @Override
    public void echoStrings(Holder<List<String>> item) {
    }

    @Override
    public void echoMios(Holder<List<Mio>> item) {
    }

    @Override
    public void echoEvents(Holder<List<Event>> item) {
    }

    @Override
    public void echoBase64(Holder<byte[]> data) {
    }

    @Override
    public int sendInts(List<Integer> item) {
        return size(item);
    }

    @Override
    public int sendDoubles(List<Double> item) {
        return size(item);
    }

    @Override
    public int sendStrings(List<String> item) {
        return size(item);
    }

    @Override
    public int sendMios(List<Mio> item) {
        return size(item);
    }

    @Override
    public int sendEvents(List<Event> item) {
        return size(item);
    }

    @Override
    public int sendBase64(byte[] data) {
        return data == null ? 0 : data.length;
    }

    @Override
    public List<Integer> receiveInts(int count) {
        return items(count, i -> i);
    }

    @Override
    public List<Double> receiveDoubles(int count) {
        return items(count, i -> Math.sqrt(i));
    }

    @Override
    public List<String> receiveStrings(int count) {
        return items(count, SuiteService::text);
    }

    @Override
    public List<Mio> receiveMios(int count) {
        return items(count, SuiteService::mio);
    }

    @Override
    public List<Event> receiveEvents(int count) {
        return items(count, SuiteService::event);
    }

    @Override
    public byte[] receiveBase64(int count) {
        byte[] octets = new byte[Math.max(0, count)];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) i;
        }
        return octets;
    }

    private static String text(int i) {
        String text = "Message #" + i;
        return text + ".".repeat(100 - text.length());
    }

    private static int size(List<?> items) {
        return items == null ? 0 : items.size();
    }

    private static <T> List<T> items(int count, IntFunction<T> item) {
        List<T> items = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            items.add(item.apply(i));
        }
        return items;
    }

    private static Mio mio(int i) {
        Mio mio = new Mio();
        mio.setX(i);
        mio.setY(i);
        mio.setV(Math.sqrt(i));
        return mio;
    }

    private static Event event(int i) {
        Event event = new Event();
        event.setId(i);
        event.setValue(Math.sqrt(i));
        event.setMessage("Message #" + i);
        return event;
    }
}
