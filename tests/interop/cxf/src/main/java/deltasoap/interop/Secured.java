package deltasoap.interop;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;

import jakarta.xml.ws.WebServiceException;

/**
 * Calls the ports of secured/bank.wsdl on our server with CXF, which follows the policies in the WSDL.
 *
 * <p>Arguments: the URL below which the ports are, and the folder with the keys. Prints one JSON object per test;
 * tests/interop/README.md documents it.
 */
public final class Secured {
    static final String NAMESPACE = "urn:bank";
    /** The reasons of our server's faults; CXF has the same for an invalid signature. */
    private static final String MISSING = "lacks security that the service requires";
    private static final String EXPIRED = "the message has expired";
    private static final String INVALID = "he signature or decryption was invalid";
    private static final String UNTRUSTED = "an invalid security token was provided";
    private static final String UNAUTHENTICATED = "the security token could not be authenticated";

    private interface Test {
        void run() throws Exception;
    }

    private final URI origin;
    private final Keys keys;
    private final String version;
    private final Tests tests = new Tests();

    private Secured(URI origin, Keys keys, String version) {
        this.origin = origin;
        this.keys = keys;
        this.version = version;
    }

    public static void main(String[] arguments) {
        Logger.getLogger("").setLevel(Level.OFF);
        for (String version : List.of("1.1", "1.2")) {
            new Secured(URI.create(arguments[0]), new Keys(Path.of(arguments[1])), version).run();
        }
        // Other threads would keep the program running.
        System.exit(0);
    }

    private void run() {
        for (String policy : List.of("Signed", "Encrypted", "User")) {
            String sender = policy.equals("User") ? Keys.USER : "CN=client";
            add(policy, "calls name their sender", () -> call(port(policy), sender));
            add(policy, "faults are declared ones", () -> fail(port(policy), "-1", "the amount is negative"));
            add(policy, "a bare request is refused", () -> refuse(port(policy).sending(SecuredPort::bare), MISSING));
            add(policy, "a stale request is refused", () -> refuse(port(policy).anHourAgo(), EXPIRED));
            add(policy, "a replayed request is refused", () -> refuseReplay(port(policy)));
        }
        add("User", "a wrong password is refused",
                () -> refuse(port("User").sending(SecuredPort::guessed), UNAUTHENTICATED));
        for (String policy : List.of("Signed", "Encrypted")) {
            add(policy, "a changed request is refused",
                    () -> refuse(port(policy).sending(SecuredPort::changed), INVALID));
            add(policy, "a request of a stranger is refused",
                    () -> refuse(port(policy, "stranger", "server"), UNTRUSTED));
            add(policy, "a response of a stranger is refused",
                    () -> fail(port(policy, "client", "stranger"), "No trusted certs found|" + INVALID));
            // Of ciphertext, the tag is wrong.
            add(policy, "a changed response is refused",
                    () -> fail(port(policy).receiving(SecuredPort::changed), INVALID + "|Tag mismatch"));
            add(policy, "a bare response is refused",
                    () -> fail(port(policy).receiving(SecuredPort::bare), "not SIGNED"));
            add(policy, "a stale response is refused", () -> fail(port(policy).at("/late"), "timestamp has expired"));
            add(policy, "a replayed response is refused", () -> rejectReplay(port(policy)));
        }
        tests.run(version);
    }

    private void add(String policy, String name, Test test) {
        tests.add("security " + policy.toLowerCase(), name, endpoint -> test.run());
    }

    private SecuredPort port(String policy) throws Exception {
        return port(policy, "client", "server");
    }

    private SecuredPort port(String policy, String own, String authority) throws Exception {
        return new SecuredPort(origin, policy, version, keys.client(own, authority));
    }

    private static void call(SecuredPort port, String sender) throws Exception {
        for (String amount : List.of("150", "250", "123456789")) {
            String response = port.transfer(amount);
            boolean isRight = response.contains(">" + sender + "<") && response.contains(">" + amount + "<");
            Tests.expect(isRight, true, response);
        }
    }

    /** Our server must refuse the request: with a fault, whose status is an error. */
    private static void refuse(SecuredPort port, String reason) {
        fail(port, "250", reason);
        Tests.expect(port.status() >= 400, true, "a fault by the status " + port.status());
    }

    /** The fault relates to the earlier request, so WS-Addressing may drop it. */
    private static void refuseReplay(SecuredPort port) throws Exception {
        port.transfer("250");
        String request = port.sent();
        refuse(port.sending(text -> request), EXPIRED + "|no response");
        Tests.expect(port.received().contains(EXPIRED), true, EXPIRED + " in: " + port.received());
    }

    /** WS-Addressing finds that it is the response to another request, and drops it. */
    private static void rejectReplay(SecuredPort port) throws Exception {
        port.transfer("250");
        String response = port.received();
        fail(port.receiving(text -> response), "no response");
    }

    private static void fail(SecuredPort port, String reason) {
        fail(port, "250", reason);
    }

    /** A call must fail, for a reason that has something in it. */
    private static void fail(SecuredPort port, String amount, String reason) {
        try {
            port.transfer(amount);
        } catch (Exception error) {
            String text = error instanceof WebServiceException ? error.getCause().getMessage() : error.getMessage();
            Tests.expect(Pattern.compile(reason).matcher(text).find(), true, reason + " in: " + text);
            return;
        }
        throw new Tests.AssertionFailure("no fault");
    }
}
