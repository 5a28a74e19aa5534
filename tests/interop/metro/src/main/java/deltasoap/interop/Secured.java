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
    private final Wire wire;

    private Secured(URI origin, String version, Keys keys, Wire wire) {
        super(origin, version);
        this.keys = keys;
        this.wire = wire;
    }

    public static void main(String[] arguments) throws Exception {
        Keys keys = new Keys(Path.of(arguments[1]));
        Wire wire = new Wire();
        for (String version : List.of("1.1", "1.2")) {
            new Secured(URI.create(arguments[0]), version, keys, wire).run(List.of("Signed", "User"));
        }
        // Other threads would keep the program running.
        System.exit(0);
    }

    /** Metro trusts authorities, not single certificates that one of them has issued. */
    @Override
    SecuredPort port(String policy, String own, String trusted) throws Exception {
        String authority = trusted.equals("server") ? "authority" : trusted;
        return new MetroPort(origin, portName(policy), wire, wsdl -> keys.client(wsdl, own, authority));
    }

    @Override
    Refusals refusals() {
        return new Refusals("does not chain with any of the trust anchors", "digest verification of body",
                "Invalid Security Header", "creation time is older");
    }

    @Override
    void addOthers(String policy, boolean isSigned) {
        lack(policy, "a stale request is refused", "its clock cannot be set");
        if (isSigned) {
            lack(policy, "a replayed response is refused", "it does not look at what a response relates to");
        }
    }
}
