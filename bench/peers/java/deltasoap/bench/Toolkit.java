package deltasoap.bench;

import java.io.ByteArrayOutputStream;
import java.util.List;

/**
 * What a toolkit does for {@link Peer}. Kinds are those of workloads: {@code ints}, {@code easy} and so on. Where {@code composites} is one
 * of them, each composite type is a kind of its own by its name, such as {@code I2D0S1}.
 */
interface Toolkit {
    String name();

    String version();

    /** The kinds that it can do: read, and {@link #writes} says which of them also write. */
    default List<String> kinds() {
        return List.of("ints", "easy", "hard", "strings", "structs", "events", "base64", "doubles64");
    }

    /** Whether it writes whatever values of this kind there are without fault. */
    default boolean writes(String kind) {
        return true;
    }

    /** Whether what it writes can be sent to a server that never answers. */
    default boolean sends() {
        return false;
    }

    /** What its server offers; empty where there is none. */
    default List<String> operations() {
        return List.of();
    }

    /** The values of a message, in the toolkit's own classes; fails where the message is not of that kind. */
    Object decode(String kind, byte[] message) throws Exception;

    /** The same where nobody measures it, by a faster way if there is one. */
    default Object values(String kind, byte[] message) throws Exception {
        return decode(kind, message);
    }

    /** Writes the complete message. */
    void encode(String kind, Object values, ByteArrayOutputStream out) throws Exception;

    /** Adds the values. */
    void sum(String kind, Object values, Checksum sum);

    /** What its client calls; empty where there is none. */
    default List<String> calls() {
        return List.of();
    }

    /** What its server and its client can do besides plain HTTP: names of the protocol's {@code transport}. */
    default List<String> transports() {
        return List.of();
    }

    /** Whether it spoils characters outside of Unicode's first plane. */
    default boolean knowsBasicPlaneAlone() {
        return false;
    }

    /** Whether it cannot write the least xsd:int or read an infinite xsd:double. */
    default boolean lacksExtremes() {
        return false;
    }

    /** Whether it spoils characters of more than two octets in UTF-8. */
    default boolean knowsTwoOctetsAlone() {
        return false;
    }

    /** Starts the server; gives its port. */
    default int serve(int connections, Transport transport) throws Exception {
        throw new UnsupportedOperationException("there is no server");
    }

    /**
     * Calls of an operation at the server on this port. They send what {@link #decode} has given, or a number where items are received,
     * or nothing.
     */
    default Call client(int port, Transport transport, String operation, Object content) throws Exception {
        throw new UnsupportedOperationException("there is no client");
    }

    /** A call again and again; gives what the response holds: values, their number or nothing. */
    interface Call {
        Object once() throws Exception;
    }

    /** The operation's element of a kind. */
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
    /** The kind of an operation's items; none for {@code echoVoid}. */
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

    /** Whether a kind is a composite type; no other's name begins alike. */
    static boolean isComposite(String kind) {
        return kind.startsWith("I");
    }
}
