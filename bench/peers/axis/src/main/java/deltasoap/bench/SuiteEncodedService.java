package deltasoap.bench;

import java.util.Arrays;

/** The operations of suite-encoded.wsdl. A class of its own: Axis looks for a description of each method, and a service has those of its own alone. */
public final class SuiteEncodedService {
    private static final int DIFFERENT = 1000;

    private final SuiteService literal = new SuiteService();

    public int sendEncodedStrings(String[] item) {
        return literal.sendStrings(item);
    }

    public int sendRepeatedStrings(String[] item) {
        return literal.sendStrings(item);
    }

    public String[] receiveEncodedStrings(int count) {
        return literal.receiveStrings(count);
    }

    /** So many different ones in turn, each of them one object. */
    public String[] receiveRepeatedStrings(int count) {
        String[] strings = Arrays.copyOf(literal.receiveStrings(Math.min(count, DIFFERENT)), count);
        for (int i = DIFFERENT; i < count; i++) {
            strings[i] = strings[i - DIFFERENT];
        }
        return strings;
    }
}
