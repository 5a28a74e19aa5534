package deltasoap.interop;

import static deltasoap.interop.Tests.expect;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

import bench.Address;
import bench.Bench;
import bench.BenchFault_Exception;
import bench.Mio;
import bench.Nothing;
import bench.ObjectFactory;
import bench.Person;
import bench.Role;
import bench.Trace;
import jakarta.activation.DataHandler;
import jakarta.mail.util.ByteArrayDataSource;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.soap.MTOMFeature;

/**
 * Calls every operation of testdata/wsdl/bench.wsdl with CXF, over SOAP 1.1 and SOAP 1.2: arguments
 * are the service's URL, the one for TLS, and the file with the authority's certificate.
 */
public final class Client {
    private static final int ROUNDS = 20;
    private static final int[] SIZES = {0, 1, 100};

    private final Tests<Endpoint> tests = new Tests<>();
    private final String tlsUrl;
    private final Path authority;
    private final DatatypeFactory datatypes = DatatypeFactory.newDefaultInstance();

    private Client(String tlsUrl, Path authority) {
        this.tlsUrl = tlsUrl;
        this.authority = authority;
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        Client client = new Client(arguments[1], Path.of(arguments[2]));
        client.arrays();
        client.edges();
        client.similar();
        client.structs();
        client.faults();
        client.headers();
        client.wire();
        client.attachments();
        for (String version : List.of("1.1", "1.2")) {
            client.tests.run(version, new Endpoint(version, arguments[0]));
        }
        // CXF's threads would keep running.
        System.exit(0);
    }

    // --- values

    /** A pseudo-random integer, by multiplication with a large prime. */
    private static int someInt(int n) {
        return n * 1_000_000_007;
    }

    private static double someDouble(int n) {
        return someInt(n) / 7.0 * Math.pow(10, n % 40 - 20);
    }

    private static Mio mio(int n) {
        Mio mio = new Mio();
        mio.setX(someInt(n));
        mio.setY(-n);
        mio.setV(someDouble(n));
        return mio;
    }

    private static String show(Mio mio) {
        return mio.getX() + " " + mio.getY() + " " + mio.getV();
    }

    private XMLGregorianCalendar instant(int n) {
        return datatypes.newXMLGregorianCalendar(1970 + n, n % 12 + 1, n % 28 + 1, n % 24, n % 60, 59, n, 0);
    }

    private static <T> List<T> many(int size, IntFunction<T> make) {
        return IntStream.range(0, size).mapToObj(make).collect(ArrayList::new, List::add, List::addAll);
    }

    // --- arrays

    private interface Echo<T> {
        void call(Bench bench, Holder<List<T>> items);
    }

    private interface Send<T> {
        int call(Bench bench, List<T> items);
    }

    private static <T> void echo(Bench bench, Echo<T> operation, List<T> items) {
        Holder<List<T>> holder = new Holder<>(items);
        operation.call(bench, holder);
        List<T> received = holder.value == null ? List.of() : holder.value;
        expect(comparable(received), comparable(items), "items");
    }

    /** Structs of generated classes are equal only to themselves. */
    private static List<?> comparable(List<?> items) {
        return items.stream().map(item -> item instanceof Mio mio ? show(mio) : item).toList();
    }

    private <T> void testEcho(String name, Echo<T> operation, IntFunction<T> make) {
        for (int size : SIZES) {
            tests.add("arrays", name + ", " + size + " items", e -> echo(e.bench, operation, many(size, make)));
        }
    }

    private <T> void testSend(String name, Send<T> operation, IntFunction<T> make) {
        for (int size : SIZES) {
            tests.add("arrays", name + ", " + size + " items",
                    e -> expect(operation.call(e.bench, many(size, make)), size, "count"));
        }
    }

    private void arrays() {
        tests.add("arrays", "echoVoid", e -> e.bench.echoVoid());
        testEcho("echoBooleans", Bench::echoBooleans, n -> n % 3 == 0);
        testEcho("echoInts", Bench::echoInts, Client::someInt);
        testEcho("echoLongs", Bench::echoLongs, n -> someInt(n) * 65_537L);
        testEcho("echoFloats", Bench::echoFloats, n -> someInt(n) / 16f);
        testEcho("echoDoubles", Bench::echoDoubles, Client::someDouble);
        testEcho("echoDecimals", Bench::echoDecimals, n -> new BigDecimal(someInt(n) + "." + (n % 9 + 1)));
        testEcho("echoDateTimes", Bench::echoDateTimes, this::instant);
        testEcho("echoStrings", Bench::echoStrings, n -> "<item> & \"" + n + "\" äß漢🦀");
        testEcho("echoMios", Bench::echoMios, Client::mio);
        testSend("sendInts", Bench::sendInts, Client::someInt);
        testSend("sendDoubles", Bench::sendDoubles, Client::someDouble);
        testSend("sendStrings", Bench::sendStrings, n -> "string " + n);
        testSend("sendMios", Bench::sendMios, Client::mio);
        for (int size : new int[] {0, 1, 2, 3, 1000}) {
            tests.add("arrays", "base64, " + size + " octets", e -> base64(e, octets(size)));
        }
    }

    private static byte[] octets(int size) {
        byte[] bytes = new byte[size];
        for (int n = 0; n < size; n++) {
            bytes[n] = (byte) (n * 7 + n / 256);
        }
        return bytes;
    }

    private static void base64(Endpoint endpoint, byte[] bytes) {
        Holder<byte[]> data = new Holder<>(bytes);
        endpoint.bench.echoBase64(data);
        expect(Arrays.equals(data.value, bytes), true, "the same octets");
        expect(endpoint.bench.sendBase64(bytes), bytes.length, "count");
    }

    // --- extreme values

    private <T> void testEdge(String name, Echo<T> operation, List<T> items) {
        tests.add("values", name, e -> echo(e.bench, operation, items));
    }

    private void edges() {
        testEdge("ints at the limits", Bench::echoInts, List.of(Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE));
        testEdge("longs at the limits", Bench::echoLongs, List.of(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE));
        testEdge("special doubles", Bench::echoDoubles, List.of(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
                Double.NaN, -0.0, Double.MIN_VALUE, Double.MIN_NORMAL, Double.MAX_VALUE));
        testEdge("special floats", Bench::echoFloats, List.of(Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN,
                -0f, Float.MIN_VALUE, Float.MAX_VALUE));
        testEdge("long decimals", Bench::echoDecimals,
                List.of(new BigDecimal("0"), new BigDecimal("-0.5"), new BigDecimal("123456789012345678.123456789012345678")));
        testEdge("instants", Bench::echoDateTimes, List.of(datatypes.newXMLGregorianCalendar("2024-02-29T23:59:59.5Z"),
                datatypes.newXMLGregorianCalendar("2001-10-26T21:32:52+02:00"),
                datatypes.newXMLGregorianCalendar("2001-10-26T21:32:52")));
        testEdge("strings with markup", Bench::echoStrings,
                List.of("<item>", "a & b", "]]>", "\"'", "&amp;", "<!-- -->", "<![CDATA[x]]>"));
        testEdge("strings with unicode", Bench::echoStrings,
                List.of("äöüß", "漢字かな", "🦀🧼", "e\u0301", "\ud7ff\ue000\ufffd", "\u0085\u2028"));
        testEdge("strings with white space", Bench::echoStrings,
                List.of(" leading", "trailing ", "  two  spaces  ", "a\tb", "a\nb", "a\rb", " ", "\n"));
        testEdge("empty strings among others", Bench::echoStrings, List.of("", "a", "", "", "b", ""));
        testEdge("a long string", Bench::echoStrings, List.of("0123456789<&".repeat(10_000)));
    }

    // --- similar messages

    private void similar() {
        tests.add("similar", "doubles, one changed a message", e -> {
            List<Double> items = many(500, Client::someDouble);
            for (int round = 0; round < ROUNDS; round++) {
                items.set(round * 23, someDouble(round + 1000));
                echo(e.bench, Bench::echoDoubles, items);
            }
        });
        tests.add("similar", "strings that grow and shrink", e -> {
            List<String> items = many(100, n -> "string " + n);
            for (int round = 0; round < ROUNDS; round++) {
                items.set(round * 3, "& long ".repeat(round % 5) + "end");
                echo(e.bench, Bench::echoStrings, items);
            }
        });
        tests.add("similar", "structs inserted and removed", e -> {
            List<Mio> items = many(200, Client::mio);
            for (int round = 0; round < ROUNDS; round++) {
                if (round % 2 == 0) {
                    items.add(round * 5, mio(round + 1000));
                } else {
                    items.remove(round);
                }
                echo(e.bench, Bench::echoMios, items);
            }
        });
    }

    // --- structs

    private static Person required() {
        Person person = new Person();
        person.setName("Ada <&> Lovelace");
        person.setScore(1.5);
        person.setRole(Role.GUEST);
        person.setId(1L << 62);
        return person;
    }

    private Person full() {
        Person person = required();
        person.setNickname("ada");
        person.setBorn(new ObjectFactory().createPersonBorn(datatypes.newXMLGregorianCalendar("1815-12-10")));
        person.setRole(Role.ADMIN);
        person.setAddress(address("SW1Y"));
        person.getTag().addAll(List.of("a", "b", "c"));
        person.setActive(true);
        return person;
    }

    private static Address address(String zip) {
        Address address = new Address();
        address.setStreet("St. James's Square 12");
        address.setCity("London");
        address.setZip(zip);
        return address;
    }

    private static String show(Person person) {
        Address address = person.getAddress();
        String place = address == null ? null : address.getStreet() + "/" + address.getCity() + "/" + address.getZip();
        String born = person.getBorn() == null ? "absent" : person.getBorn().isNil() ? "nil" : "" + person.getBorn().getValue();
        return String.join(" ", person.getName(), person.getNickname(), "" + person.getScore(), born, "" + person.getRole(),
                place, "" + person.getTag(), "" + person.getId(), "" + person.isActive());
    }

    private void testPerson(String name, Person person) {
        tests.add("structs", name, e -> {
            for (int round = 0; round < 3; round++) {
                person.setId(person.getId() + round);
                Holder<Person> holder = new Holder<>(person);
                e.bench.echoStruct(holder);
                expect(show(holder.value), show(person), "person");
            }
        });
    }

    private void structs() {
        testPerson("everything", full());
        testPerson("only what is required", required());
        Person without = required();
        without.setAddress(address(null));
        testPerson("an optional one inside a nested one missing", without);
        Person empty = required();
        empty.setName("");
        empty.setNickname("");
        testPerson("empty strings", empty);
        Person nil = full();
        nil.setScore(null);
        testPerson("a nil value", nil);
        Person optional = full();
        optional.setBorn(new ObjectFactory().createPersonBorn(null));
        testPerson("an optional nil value", optional);
    }

    // --- faults

    private void faults() {
        for (String code : List.of("quota", "<a & b>", "漢字🦀")) {
            tests.add("faults", "typed fault, code " + code, e -> {
                try {
                    e.bench.fail(code);
                } catch (BenchFault_Exception fault) {
                    expect(fault.getFaultInfo().getCode(), code, "code");
                    expect(fault.getFaultInfo().getLimit(), code.codePointCount(0, code.length()), "limit");
                    return;
                }
                throw new Tests.AssertionFailure("expected a fault, got a response");
            });
        }
    }

    // --- header blocks

    private void headers() {
        tests.add("headers", "a header block both ways", e -> {
            for (int hops = 0; hops < 3; hops++) {
                Trace trace = new Trace();
                trace.setId("<a> & ä");
                trace.setHops(hops);
                Holder<Trace> holder = new Holder<>(trace);
                e.bench.trace(new Nothing(), holder);
                expect(holder.value.getId() + holder.value.getHops(), "<a> & ä" + (hops + 1), "block");
            }
        });
        tests.add("headers", "no header block", e -> {
            Holder<Trace> holder = new Holder<>();
            e.bench.trace(new Nothing(), holder);
            expect(holder.value, null, "block");
        });
    }

    // --- the wire

    private static void someCalls(Endpoint endpoint) {
        for (int round = 0; round < 5; round++) {
            List<Double> items = many(1000, Client::someDouble);
            items.set(round * 100, (double) round);
            echo(endpoint.bench, Bench::echoDoubles, items);
        }
    }

    private void wire() {
        tests.add("utf-16", "requests in UTF-16", e -> {
            Endpoint endpoint = e.another().encoding("UTF-16");
            for (int round = 0; round < 5; round++) {
                int number = round;
                List<String> items = many(50, n -> "äß漢字🦀 <" + (n == 20 ? number : n) + ">");
                echo(endpoint.bench, Bench::echoStrings, items);
            }
        });
        tests.add("chunked", "chunked requests", e -> someCalls(e.another().chunking(true)));
        tests.add("length", "requests with Content-Length", e -> someCalls(e.another().chunking(false)));
        tests.add("gzip", "gzip both ways", e -> {
            Endpoint endpoint = e.another().compressing();
            for (int round = 0; round < 3; round++) {
                int number = round;
                List<String> items = many(1000, n -> "the same again " + (n == 500 ? number : 0));
                echo(endpoint.bench, Bench::echoStrings, items);
            }
        });
        tests.add("tls", "calls over TLS", e -> someCalls(e.another().secure(tlsUrl, authority)));
        tests.add("tls", "an unknown authority is refused", e -> {
            Endpoint endpoint = e.another().secure(tlsUrl, null);
            try {
                endpoint.bench.echoVoid();
            } catch (Exception error) {
                return;
            }
            throw new Tests.AssertionFailure("a certificate of an untrusted authority was accepted");
        });
        tests.add("one-way", "notifications arrive", e -> {
            String topic = "CXF over " + e.version + ", " + ProcessHandle.current().pid();
            for (int n = 0; n < 3; n++) {
                e.bench.notify(topic);
            }
            int count = 0;
            for (int n = 0; n < 50 && count != 3; n++) {
                count = e.bench.notified(topic);
                Thread.sleep(count == 3 ? 0 : 100);
            }
            expect(count, 3, "count");
        });
    }

    // --- attachments

    private static DataHandler data(byte[] bytes) {
        return new DataHandler(new ByteArrayDataSource(bytes, "application/octet-stream"));
    }

    private static void echoAttachment(Endpoint endpoint, byte[] bytes) throws Exception {
        Holder<String> name = new Holder<>("a & b");
        Holder<DataHandler> data = new Holder<>(data(bytes));
        endpoint.bench.echoAttachment(name, data);
        expect(name.value, "a & b", "name");
        expect(Arrays.equals(data.value.getInputStream().readAllBytes(), bytes), true, "the same octets");
    }

    private void attachments() {
        for (int size : new int[] {0, 100, 100_000}) {
            tests.add("mtom", "echoAttachment as a part, " + size + " octets",
                    e -> echoAttachment(e.another(new MTOMFeature(true, 0)), octets(size)));
        }
        tests.add("mtom", "echoAttachment as text", e -> echoAttachment(e, octets(1000)));
        tests.add("mtom", "sendAttachment, 1000000 octets", e -> {
            Endpoint endpoint = e.another(new MTOMFeature(true, 0));
            byte[] bytes = "x".repeat(1_000_000).getBytes(StandardCharsets.US_ASCII);
            expect(endpoint.bench.sendAttachment("large", data(bytes)), bytes.length, "count");
        });
    }
}
