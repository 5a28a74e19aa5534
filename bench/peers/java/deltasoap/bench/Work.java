package deltasoap.bench;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A prepared workload. */
abstract class Work {
    /**
     * Number of copies of a message, so that no run finds its message in the cache because of the
     * previous run.
     */
    private static final int COPIES = 16;
    private static final Pattern COMPOSITE = Pattern.compile(":send(I\\d+D\\d+S\\d+)");

    final Toolkit toolkit;
    final String kind;
    private long baseline;

    private Work(Toolkit toolkit, String kind) {
        this.toolkit = toolkit;
        this.kind = kind;
    }

    /** Sends over the connection that is open at that time, which may be another one than now. */
    static Work prepare(Toolkit toolkit, String workload, byte[] message, Supplier<Connection> connection) throws Exception {
        String kind = workload.substring(workload.indexOf('-') + 1);
        if (!toolkit.kinds().contains(kind)) {
            throw new IllegalArgumentException("unknown workload " + workload);
        }
        if (kind.equals("composites")) {
            kind = compositeIn(message);
        }
        return begun(switch (workload.substring(0, workload.indexOf('-') + 1)) {
            case "decode-" -> new Decode(toolkit, kind, message);
            case "encode-" -> new Encode(toolkit, kind, message);
            case "send-" -> new Send(toolkit, kind, message, connection);
            default -> throw new IllegalArgumentException("unknown workload " + workload);
        });
    }

    /** Calls of an operation with the values of a message, or with a number. */
    static Work calls(Toolkit toolkit, int port, Transport transport, String operation, int n, byte[] message) throws Exception {
        String kind = Toolkit.kind(operation);
        if (!toolkit.calls().contains(operation)) {
            throw new IllegalArgumentException("no call of " + operation);
        }
        Object content = operation.startsWith("receive") ? (Object) n : kind.isEmpty() ? null : toolkit.values(kind, message);
        return begun(new Calls(toolkit, kind, toolkit.client(port, transport, operation, content), message.length));
    }

    private static Work begun(Work work) throws Exception {
        work.baseline = Memory.resident();
        work.first();
        return work;
    }

    /**
     * Returns the composite type of a message: what follows {@code :send} in the name of its
     * element.
     */
    private static String compositeIn(byte[] message) {
        Matcher found = COMPOSITE.matcher(new String(message, StandardCharsets.UTF_8));
        if (!found.find()) {
            throw new IllegalArgumentException("no composite type");
        }
        return found.group(1);
    }

    /** The run that prepares it. */
    void first() throws Exception {
        once();
    }

    /** One timed run. */
    abstract void once() throws Exception;

    /** Returns the checksum of the last run's values, or of its decoded output. */
    abstract String checksum() throws Exception;

    /** Returns the size of the message in timed runs. */
    abstract int bytes();

    /** Returns the last encoded message. */
    abstract byte[] output();

    long growth() {
        return Math.max(0, Memory.peak() - baseline);
    }

    final String sum(Object values) {
        Checksum sum = new Checksum();
        toolkit.sum(kind, values, sum);
        return sum.hex();
    }

    private static final class Decode extends Work {
        private final byte[][] messages = new byte[COPIES][];
        private int next;
        private Object values;

        Decode(Toolkit toolkit, String kind, byte[] message) {
            super(toolkit, kind);
            for (int i = 0; i < COPIES; i++) {
                messages[i] = message.clone();
            }
        }

        /** The values of the previous run are garbage from here on. */
        @Override
        void once() throws Exception {
            values = null;
            values = toolkit.decode(kind, messages[next++ % COPIES]);
        }

        @Override
        String checksum() {
            return sum(values);
        }

        @Override
        int bytes() {
            return messages[0].length;
        }

        @Override
        byte[] output() {
            throw new IllegalStateException("a decode has no output");
        }
    }

    private static class Encode extends Work {
        private final Object values;
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Encode(Toolkit toolkit, String kind, byte[] message) throws Exception {
            super(toolkit, kind);
            values = toolkit.values(kind, message);
        }

        @Override
        void once() throws Exception {
            out.reset();
            toolkit.encode(kind, values, out);
        }

        @Override
        String checksum() throws Exception {
            return sum(toolkit.values(kind, out.toByteArray()));
        }

        @Override
        int bytes() {
            return out.size();
        }

        @Override
        byte[] output() {
            return out.toByteArray();
        }
    }

    private static final class Send extends Encode {
        private final Supplier<Connection> connection;

        Send(Toolkit toolkit, String kind, byte[] message, Supplier<Connection> connection) throws Exception {
            super(toolkit, kind, message);
            if (!toolkit.sends() || connection.get() == null) {
                throw new IllegalStateException("not connected");
            }
            this.connection = connection;
        }

        /** Writes only to memory. */
        @Override
        void first() throws Exception {
            super.once();
        }

        @Override
        void once() throws Exception {
            super.once();
            connection.get().send(out);
        }
    }

    private static final class Calls extends Work {
        private final Toolkit.Call call;
        private final int bytes;
        private Object response;

        Calls(Toolkit toolkit, String kind, Toolkit.Call call, int bytes) {
            super(toolkit, kind);
            this.call = call;
            this.bytes = bytes;
        }

        @Override
        void once() throws Exception {
            response = null;
            response = call.once();
        }

        /** Without items there is no response. */
        @Override
        String checksum() {
            if (response == null || response instanceof Integer) {
                Checksum count = new Checksum();
                if (response != null) {
                    count.add((int) response);
                }
                return count.hex();
            }
            return sum(response);
        }

        @Override
        int bytes() {
            return bytes;
        }

        @Override
        byte[] output() {
            throw new IllegalStateException("a call has no output");
        }
    }
}
