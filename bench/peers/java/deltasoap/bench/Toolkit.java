package deltasoap.bench;

import java.io.ByteArrayOutputStream;
import java.util.List;

/**
 * A toolkit for {@link Peer}. Kinds are those of workloads: {@code ints}, {@code easy} and so on.
 * If {@code composites} is one of them, each composite type is a separate kind with its name, such
 * as {@code I2D0S1}.
 */
interface Toolkit {
    String name();

    String version();

    /** The supported kinds for reading; {@link #writes} returns which of them it also writes. */
    default List<String> kinds() {
        return List.of("ints", "easy", "hard", "strings", "structs", "events", "base64", "doubles64");
    }

    /** Returns true if it writes all values of this kind correctly. */
    default boolean writes(String kind) {
        return true;
    }

    /** Returns true if its messages can be sent to a server that never answers. */
    default boolean sends() {
        return false;
    }

    /** The operations of its server; empty if there is none. */
    default List<String> operations() {
        return List.of();
    }

    /**
     * Returns the values of a message, in the toolkit's own classes; fails if the message is not of
     * that kind.
     */
    Object decode(String kind, byte[] message) throws Exception;

    /** The same outside of measurements, by a faster way if there is one. */
    default Object values(String kind, byte[] message) throws Exception {
        return decode(kind, message);
    }

    /** Writes the complete message. */
    void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception;

    /** Adds the values to a checksum. */
    void sum(String kind, Object values, Checksum sum);

    /** The operations that its client calls; empty if there is none. */
    default List<String> calls() {
        return List.of();
    }

    /**
     * The transports of its server and client besides plain HTTP: names of the protocol's
     * {@code transport}.
     */
    default List<String> transports() {
        return List.of();
    }

    /** Returns true if it corrupts characters outside of Unicode's first plane. */
    default boolean knowsBasicPlaneAlone() {
        return false;
    }

    /** Returns true if it cannot write the least xsd:int or read an infinite xsd:double. */
    default boolean lacksExtremes() {
        return false;
    }

    /** Returns true if it corrupts characters of more than two octets in UTF-8. */
    default boolean knowsTwoOctetsAlone() {
        return false;
    }

    /** Starts the server; returns its port. */
    default int serve(int connections, Transport transport) throws Exception {
        throw new UnsupportedOperationException("there is no server");
    }

    /**
     * Returns calls of an operation of the server at this port. They send the result of {@link
     * #decode}, or a number if they receive items, or nothing.
     */
    default Call client(int port, Transport transport, String operation, Object content) throws Exception {
        throw new UnsupportedOperationException("there is no client");
    }

    /** A repeatable call; returns the content of the response: values, their number or nothing. */
    interface Call {
        Object once() throws Exception;
    }

    /** Returns the operation's element of a kind. */
    static String operation(String kind) {
        return switch (kind) {
            case "ints" -> "sendInts";
            case "easy", "hard" -> "sendDoubles";
            case "strings" -> "sendStrings";
            case "structs" -> "sendMios";
            case "events" -> "sendEvents";
            case "base64", "doubles64" -> "sendBase64";
            case "encoded" -> "sendEncodedStrings";
            case "repeated" -> "sendRepeatedStrings";
            default -> {
                if (!isComposite(kind)) {
                    throw new IllegalArgumentException("unknown kind of workload " + kind);
                }
                yield "send" + kind;
            }
        };
    }
    /** Returns the kind of an operation's items; none for {@code echoVoid}. */
    static String kind(String operation) {
        return switch (operation.replaceFirst("echo|send|receive", "")) {
            case "Ints" -> "ints";
            case "Doubles" -> "hard";
            case "Strings" -> "strings";
            case "Mios" -> "structs";
            case "Events" -> "events";
            case "Base64" -> "base64";
            case "EncodedStrings" -> "encoded";
            case "RepeatedStrings" -> "repeated";
            case "Void" -> "";
            default -> throw new IllegalArgumentException("unknown operation " + operation);
        };
    }

    /** Returns true if a kind is a composite type; no other kind's name has the same prefix. */
    static boolean isComposite(String kind) {
        return kind.startsWith("I");
    }
}
