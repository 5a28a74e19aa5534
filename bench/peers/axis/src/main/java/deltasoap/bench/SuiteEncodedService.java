package deltasoap.bench;

import java.util.Arrays;

/**
 * The operations of suite-encoded.wsdl, in a separate class since Axis requires metadata of all
 * methods of a service.
 */
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

    /** Returns items that cycle through this many distinct objects. */
    public String[] receiveRepeatedStrings(int count) {
        String[] strings = Arrays.copyOf(literal.receiveStrings(Math.min(count, DIFFERENT)), count);
        for (int i = DIFFERENT; i < count; i++) {
            strings[i] = strings[i - DIFFERENT];
        }
        return strings;
    }
}
