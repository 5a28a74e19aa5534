package deltasoap.bench;

import java.io.ByteArrayOutputStream;

/** One prepared workload. */
final class Work {
    private static final int COPIES = 16;
    /** Until the compiler has seen enough. */
    private static final long WARM_UP_NANOSECONDS = 1_500_000_000L;
    private static final int WARM_UP_RUNS = 20_000;

    private final String direction;
    private final String kind;
    /** For decode: equal messages in different memory. */
    private final byte[][] copies = new byte[COPIES][];
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private Values values;
    private int next;
    private final long baseline;

    Work(String workload, byte[] message) throws Exception {
        String[] words = workload.split("-", 2);
        if (words.length != 2 || !Peer.DIRECTIONS.contains(words[0]) || !Peer.KINDS.contains(words[1])) {
            throw new IllegalArgumentException("unknown workload " + workload);
        }
        direction = words[0];
        kind = words[1];
        values = Codec.decode(kind, message);
        for (int copy = 0; copy < COPIES && isDecode(); copy++) {
            copies[copy] = message.clone();
        }
        baseline = Memory.resident();
        warmUp();
    }

    private boolean isDecode() {
        return direction.equals("decode");
    }

    /** Small messages many times, large ones for a while; nothing is sent. */
    private void warmUp() throws Exception {
        long end = System.nanoTime() + WARM_UP_NANOSECONDS;
        for (int run = 0; run < WARM_UP_RUNS && (run == 0 || System.nanoTime() < end); run++) {
            runInMemory();
        }
    }

    private void runInMemory() throws Exception {
        if (isDecode()) {
            values = Codec.decode(kind, copies[next++ % COPIES]);
        } else {
            output.reset();
            Codec.encode(kind, values, output);
        }
    }

    /** What is timed. */
    void runOnce(Connection connection) throws Exception {
        runInMemory();
        if (direction.equals("send")) {
            if (connection == null) {
                throw new IllegalStateException("not connected");
            }
            connection.send(output);
        }
    }

    /** Of what was decoded last, or of what is decoded from the last output. */
    String checksum() throws Exception {
        return isDecode() ? values.checksum() : Codec.decode(kind, output.toByteArray()).checksum();
    }

    int bytes() {
        return isDecode() ? copies[0].length : output.size();
    }

    byte[] output() {
        if (isDecode()) {
            throw new IllegalStateException("a decode workload has no output");
        }
        return output.toByteArray();
    }

    long peakGrowth() {
        return Math.max(0, Memory.peak() - baseline);
    }
}
