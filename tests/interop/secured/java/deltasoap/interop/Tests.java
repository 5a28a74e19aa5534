package deltasoap.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Tests by feature, and the lines of output, which tests/interop/README.md documents.
 *
 * @param <E> what all tests are run with, if anything
 */
final class Tests<E> {
    /** Fails by throwing. */
    interface Body<E> {
        void run(E endpoint) throws Exception;
    }

    private record Test<E>(String feature, String name, Body<E> body, String lacking) {}

    private final List<Test<E>> tests = new ArrayList<>();

    void add(String feature, String name, Body<E> body) {
        tests.add(new Test<>(feature, name, body, null));
    }

    /** What the toolkit does not offer, and why. */
    void lack(String feature, String name, String reason) {
        tests.add(new Test<>(feature, name, endpoint -> {}, reason));
    }

    /** Runs tests that need nothing from outside. */
    void run(String version) {
        run(version, null);
    }

    void run(String version, E endpoint) {
        for (Test<E> test : tests) {
            String failure = "";
            try {
                test.body.run(endpoint);
            } catch (Exception error) {
                failure = error.getClass().getSimpleName() + ": " + error.getMessage();
            }
            report(version, test, failure);
        }
    }

    private static void report(String version, Test<?> test, String failure) {
        String skipped = test.lacking == null ? "" : ",\"skipped\":" + quoted(test.lacking);
        System.out.println("{\"soap\":\"" + version + "\",\"feature\":\"" + test.feature + "\",\"test\":" + quoted(test.name)
                + ",\"ok\":" + failure.isEmpty() + ",\"detail\":" + quoted(failure) + skipped + "}");
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        text.codePoints().limit(300).forEach(c -> {
            if (c < 0x20) {
                json.append(String.format("\\u%04x", c));
            } else {
                json.append(c == '"' || c == '\\' ? "\\" : "").appendCodePoint(c);
            }
        });
        return json.append('"').toString();
    }

    static void expect(Object actual, Object expected, String what) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionFailure(what + ": expected " + shortened(expected) + ", got " + shortened(actual));
        }
    }

    private static String shortened(Object value) {
        String text = String.valueOf(value);
        return text.length() <= 120 ? text : text.substring(0, 117) + "...";
    }

    static final class AssertionFailure extends RuntimeException {
        AssertionFailure(String message) {
            super(message);
        }
    }
}
