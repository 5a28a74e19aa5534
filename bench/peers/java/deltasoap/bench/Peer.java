package deltasoap.bench;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The line protocol of PROTOCOL.md over standard input and output, for toolkits in Java. */
final class Peer {
    /** Milliseconds of runs before times count, so that compiled code is timed. */
    private static final int WARM = 3000;
    /** Default limit of sent octets that are not acknowledged yet. */
    private static final int BUFFER = 32768;

    private final Toolkit toolkit;
    private final InputStream requests = new BufferedInputStream(System.in);
    private Work prepared;
    private Connection connection;
    private Transport transport = Transport.PLAIN;
    private boolean isServing;

    private Peer(Toolkit toolkit) {
        this.toolkit = toolkit;
    }

    /** Answers requests until the input ends; then the process exits, whatever threads it has. */
    static void run(Toolkit toolkit) throws IOException {
        OutputStream answers = new BufferedOutputStream(System.out);
        // The output of a library is not an answer.
        System.setOut(System.err);
        // And informational logging would disturb a progress bar.
        Logger.getLogger("").setLevel(Level.WARNING);
        Peer peer = new Peer(toolkit);
        for (String line; (line = peer.line()) != null && !line.equals("quit");) {
            answers.write(peer.answer(line.split(" ")));
            answers.flush();
        }
        System.exit(0);
    }

    private byte[] answer(String[] words) {
        try {
            return switch (words[0]) {
                case "hello" -> text(hello());
                case "prepare" -> text(prepare(words[1], requests.readNBytes(Integer.parseInt(words[3]))));
                case "call" -> text(call(words, requests.readNBytes(Integer.parseInt(words[4]))));
                case "connect" -> text(connect(words));
                case "transport" -> text(transport(words[1], words[2]));
                case "run" -> text(time(Integer.parseInt(words[1])));
                case "output" -> output();
                case "serve" -> text(serve(Integer.parseInt(words[1])));
                default -> throw new IllegalArgumentException("this peer does not know " + words[0]);
            };
        } catch (Exception | LinkageError failure) {
            String plain = String.valueOf(failure).replaceAll("[\\x00-\\x1f\"\\\\]", " ");
            return text("{\"ok\":false,\"error\":\"" + plain + "\"}");
        }
    }

    private String hello() {
        List<String> workloads = new ArrayList<>();
        toolkit.kinds().forEach(kind -> workloads.add("decode-" + kind));
        List<String> written = toolkit.kinds().stream().filter(toolkit::writes).toList();
        written.forEach(kind -> workloads.add("encode-" + kind));
        if (toolkit.sends()) {
            written.forEach(kind -> workloads.add("send-" + kind));
        }
        return "{\"peer\":\"" + toolkit.name() + "\",\"version\":\"" + toolkit.version() + "\",\"workloads\":" + list(workloads)
                + ",\"operations\":" + list(toolkit.operations()) + ",\"calls\":" + list(toolkit.calls()) + ",\"transports\":"
                + list(toolkit.transports()) + ",\"basic_plane\":" + toolkit.knowsBasicPlaneAlone()
                + ",\"two_octets\":" + toolkit.knowsTwoOctetsAlone() + ",\"no_extremes\":" + toolkit.lacksExtremes() + ",\"warm\":"
                + WARM + "}";
    }

    private String prepare(String workload, byte[] message) throws Exception {
        return prepared(() -> Work.prepare(toolkit, workload, message, () -> connection));
    }

    private String connect(String[] words) throws IOException {
        if (!toolkit.sends()) {
            throw new IllegalArgumentException("nothing is sent");
        }
        if (connection != null) {
            connection.close();
            connection = null;
        }
        int buffer = words.length > 2 ? Integer.parseInt(words[2]) : BUFFER;
        connection = new Connection(Integer.parseInt(words[1]), buffer);
        return "{\"ok\":true}";
    }

    private String call(String[] words, byte[] message) throws Exception {
        int port = Integer.parseInt(words[1]);
        return prepared(() -> Work.calls(toolkit, port, transport, words[2], Integer.parseInt(words[3]), message));
    }

    private String transport(String name, String folder) {
        if (!name.equals("plain") && !toolkit.transports().contains(name)) {
            throw new IllegalArgumentException("no transport " + name);
        }
        transport = Transport.named(name, folder);
        return "{\"ok\":true}";
    }

    private String prepared(Callable<Work> make) throws Exception {
        prepared = null;
        Work work = make.call();
        String checksum = work.checksum();
        prepared = work;
        return "{\"ok\":true,\"checksum\":\"" + checksum + "\",\"bytes\":" + work.bytes() + "}";
    }

    private String time(int count) throws Exception {
        long[] times = new long[count];
        Work work = current();
        Memory.resetPeak();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            work.once();
            times[i] = System.nanoTime() - start;
        }
        long cpu = threads.getCurrentThreadCpuTime() - before;
        long growth = work.growth();
        StringJoiner ns = new StringJoiner(",", "[", "]");
        for (long time : times) {
            ns.add(Long.toString(time));
        }
        return "{\"ns\":" + ns + ",\"checksum\":\"" + work.checksum() + "\",\"peak_bytes\":" + growth + ",\"cpu_ns\":" + cpu
                + "}";
    }

    private byte[] output() throws IOException {
        byte[] message = current().output();
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        answer.write(text(Integer.toString(message.length)));
        answer.write(message);
        return answer.toByteArray();
    }

    private String serve(int connections) throws Exception {
        if (connections <= 0 || isServing) {
            throw new IllegalArgumentException("usage: serve CONNECTIONS, once");
        }
        int port = toolkit.serve(connections, transport);
        isServing = true;
        return "{\"ok\":true,\"port\":" + port + "}";
    }

    private Work current() {
        if (prepared == null) {
            throw new IllegalStateException("nothing is prepared");
        }
        return prepared;
    }

    private static String list(List<String> names) {
        StringJoiner list = new StringJoiner(",", "[", "]");
        names.forEach(name -> list.add("\"" + name + "\""));
        return list.toString();
    }

    private static byte[] text(String line) {
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int octet; (octet = requests.read()) != '\n'; line.append((char) octet)) {
            if (octet < 0) {
                return null;
            }
        }
        return line.toString();
    }
}
