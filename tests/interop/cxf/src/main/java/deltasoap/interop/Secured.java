package deltasoap.interop;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * The client of the secured service. Arguments: the URL below which the ports are, and the folder
 * with the keys.
 */
public final class Secured extends SecuredTests {
    private final Keys keys;

    private Secured(URI origin, String version, Keys keys) {
        super(origin, version);
        this.keys = keys;
    }

    public static void main(String[] arguments) {
        for (String version : List.of("1.1", "1.2")) {
            Keys keys = new Keys(Path.of(arguments[1]));
            new Secured(URI.create(arguments[0]), version, keys).run(List.of("Signed", "Encrypted", "User"));
        }
        // Other threads would keep the program running.
        System.exit(0);
    }

    @Override
    SecuredPort port(String policy, String own, String trusted) throws Exception {
        return new CxfPort(origin, portName(policy), keys.client(own, trusted));
    }

    /** Of changed ciphertext, the tag is wrong. */
    @Override
    Refusals refusals() {
        return new Refusals("No trusted certs found|" + INVALID, INVALID + "|Tag mismatch", "not SIGNED",
                "timestamp has expired");
    }

    @Override
    void addOthers(String policy, boolean isSigned) {
        add(policy, "a stale request is refused", () -> refuse(((CxfPort) port(policy)).anHourAgo(), EXPIRED));
        if (isSigned) {
            add(policy, "a replayed response is refused", () -> rejectReplay(port(policy)));
        }
    }

    /** WS-Addressing finds that it is the response to another request, and drops it. */
    private static void rejectReplay(SecuredPort port) throws Exception {
        port.transfer("250");
        String response = port.received();
        fail(port.receiving(text -> response), "no response");
    }
}
