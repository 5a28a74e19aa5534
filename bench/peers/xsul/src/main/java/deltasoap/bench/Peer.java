package deltasoap.bench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.StringJoiner;

/** XSUL as a peer of the benchmark: the line protocol of ../PROTOCOL.md over standard input and output. */
public final class Peer {
    static final List<String> DIRECTIONS = List.of("decode", "encode", "send");
    static final List<String> KINDS = List.of("ints", "easy", "hard", "structs");
    private static final String VERSION = "2.10.7";

    private final InputStream in = new BufferedInputStream(System.in);
    private final PrintStream out;
    private Work work;
    private Connection connection;

    private Peer(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = System.out;
        // Whatever a library says goes elsewhere.
        System.setOut(System.err);
        new Peer(answers).serve();
    }

    private void serve() throws IOException {
        for (String line = readLine(); line != null && !line.equals("quit"); line = readLine()) {
            try {
                answer(line.split(" "));
            } catch (EOFException e) {
                return;
            } catch (Exception e) {
                out.println("{\"ok\":false,\"error\":\"" + escape(String.valueOf(e.getMessage())) + "\"}");
            }
            out.flush();
        }
    }

    private void answer(String[] words) throws Exception {
        switch (words[0]) {
            case "hello" -> hello();
            case "prepare" -> prepare(words[1], readMessage(Integer.parseInt(words[3])));
            case "connect" -> connect(Integer.parseInt(words[1]));
            case "run" -> run(Integer.parseInt(words[1]));
            case "output" -> output();
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        }
    }

    private void hello() {
        StringJoiner workloads = new StringJoiner(",");
        for (String direction : DIRECTIONS) {
            KINDS.forEach(kind -> workloads.add("\"" + direction + "-" + kind + "\""));
        }
        out.println("{\"peer\":\"xsul\",\"version\":\"" + VERSION + "\",\"workloads\":[" + workloads + "]}");
    }

    private void prepare(String workload, byte[] message) throws Exception {
        work = null;
        work = new Work(workload, message);
        out.println("{\"ok\":true,\"checksum\":\"" + work.checksum() + "\",\"bytes\":" + work.bytes() + "}");
    }

    private void connect(int port) throws IOException {
        if (connection != null) {
            connection.close();
            connection = null;
        }
        connection = new Connection(port);
        out.println("{\"ok\":true}");
    }

    private void run(int count) throws Exception {
        Work current = current();
        StringJoiner times = new StringJoiner(",");
        Memory.resetPeak();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            current.runOnce(connection);
            times.add(Long.toString(System.nanoTime() - start));
        }
        long peak = current.peakGrowth();
        out.println("{\"ns\":[" + times + "],\"checksum\":\"" + current.checksum() + "\",\"peak_bytes\":" + peak + "}");
    }

    private void output() {
        byte[] message = current().output();
        out.println(message.length);
        out.write(message, 0, message.length);
    }

    private Work current() {
        if (work == null) {
            throw new IllegalStateException("no workload is prepared");
        }
        return work;
    }

    /** A line without its end; null at the end of the input. */
    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int octet = in.read(); octet >= 0; octet = in.read()) {
            if (octet == '\n') {
                return line.toString(StandardCharsets.UTF_8);
            }
            line.write(octet);
        }
        return null;
    }

    private byte[] readMessage(int length) throws IOException {
        byte[] message = in.readNBytes(length);
        if (message.length != length) {
            throw new EOFException();
        }
        return message;
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("[\\x00-\\x1f]", " ");
    }
}
