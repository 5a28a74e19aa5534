package deltasoap.interop;

import java.net.URI;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;

/**
 * Calls the ports of secured/bank.wsdl on our server with a toolkit, which follows the policies in
 * the WSDL.
 *
 * <p>Prints one JSON object per test; tests/interop/README.md documents it.
 */
abstract class SecuredTests {
    /** What the UsernameToken of all clients has. */
    static final String USER = "ada";
    static final String PASSWORD = "pass & word";
    /** The reasons of our server's faults. */
    static final String INVALID = "he signature or decryption was invalid";
    private static final String MISSING = "lacks security that the service requires";
    static final String EXPIRED = "the message has expired";
    private static final String UNTRUSTED = "an invalid security token was provided";
    private static final String UNAUTHENTICATED = "the security token could not be authenticated";

    interface Test {
        void run() throws Exception;
    }

    final URI origin;
    final String version;
    private final Tests<Void> tests = new Tests<>();

    /** Tests the ports below a URL in a version of SOAP. */
    SecuredTests(URI origin, String version) {
        this.origin = origin;
        this.version = version;
    }

    /**
     * Returns a port for the party {@code own}, which accepts the signatures of {@code trusted}.
     */
    abstract SecuredPort port(String policy, String own, String trusted) throws Exception;

    /** Returns for what reasons the toolkit refuses a response, as patterns. */
    abstract Refusals refusals();

    /** The reasons for responses of a stranger, for changed, unsecured, and stale ones. */
    record Refusals(String stranger, String changed, String bare, String stale) {}

    /** Returns the name of a port. */
    final String portName(String policy) {
        return policy + version.replace(".", "");
    }

    /**
     * Adds the tests that toolkits differ in: stale requests, and replayed responses if they are
     * signed.
     */
    abstract void addOthers(String policy, boolean isSigned);

    /** Runs the tests of some policies. */
    final void run(List<String> policies) {
        Logger.getLogger("").setLevel(Level.OFF);
        for (String policy : policies) {
            boolean isSigned = !policy.equals("User");
            add(policy, "calls name their sender", () -> call(port(policy), isSigned ? "CN=client" : USER));
            add(policy, "faults are declared ones", () -> fail(port(policy), "-1", "the amount is negative"));
            add(policy, "a bare request is refused", () -> refuse(port(policy).sending(SecuredPort::bare), MISSING));
            add(policy, "a replayed request is refused", () -> refuseReplay(port(policy)));
            if (isSigned) {
                addSigned(policy, refusals());
            } else {
                add(policy, "a wrong password is refused",
                        () -> refuse(port(policy).sending(SecuredPort::guessed), UNAUTHENTICATED));
            }
            addOthers(policy, isSigned);
        }
        tests.run(version);
    }

    private void addSigned(String policy, Refusals refusals) {
        add(policy, "a changed request is refused", () -> refuse(port(policy).sending(SecuredPort::changed), INVALID));
        add(policy, "a request of a stranger is refused",
                () -> refuse(port(policy, "stranger", "server"), UNTRUSTED));
        add(policy, "a response of a stranger is refused",
                () -> fail(port(policy, "client", "stranger"), refusals.stranger));
        add(policy, "a changed response is refused",
                () -> fail(port(policy).receiving(SecuredPort::changed), refusals.changed));
        add(policy, "a bare response is refused", () -> fail(port(policy).receiving(SecuredPort::bare), refusals.bare));
        add(policy, "a stale response is refused", () -> fail(port(policy).at("/late"), refusals.stale));
    }

    final void lack(String policy, String name, String reason) {
        tests.lack("security " + policy.toLowerCase(), name, reason);
    }

    final void add(String policy, String name, Test test) {
        tests.add("security " + policy.toLowerCase(), name, nothing -> test.run());
    }

    final SecuredPort port(String policy) throws Exception {
        return port(policy, "client", "server");
    }

    private static void call(SecuredPort port, String sender) throws Exception {
        for (String amount : List.of("150", "250", "123456789")) {
            String response = port.transfer(amount);
            boolean isRight = response.contains(">" + sender + "<") && response.contains(">" + amount + "<");
            Tests.expect(isRight, true, response);
        }
    }

    /** Our server must refuse the request: with a fault, whose status is an error. */
    static void refuse(SecuredPort port, String reason) {
        fail(port, reason);
        Tests.expect(port.status() >= 400, true, "a fault by the status " + port.status());
    }

    /** The fault relates to the earlier request, so WS-Addressing may drop it. */
    private static void refuseReplay(SecuredPort port) throws Exception {
        port.transfer("250");
        String request = port.sent();
        refuse(port.sending(text -> request), EXPIRED + "|no response");
        Tests.expect(port.received().contains(EXPIRED), true, EXPIRED + " in: " + port.received());
    }

    /** The toolkit must refuse the response. */
    static void fail(SecuredPort port, String reason) {
        fail(port, "250", reason);
    }

    /** A call must fail, for a reason that has something in it. */
    private static void fail(SecuredPort port, String amount, String reason) {
        try {
            port.transfer(amount);
        } catch (Exception error) {
            String text = messages(error);
            Tests.expect(Pattern.compile(reason).matcher(text).find(), true, reason + " in: " + text);
            return;
        }
        throw new Tests.AssertionFailure("no fault");
    }

    private static String messages(Throwable error) {
        return error == null ? "" : error.getMessage() + "; " + messages(error.getCause());
    }
}
