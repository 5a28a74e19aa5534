package deltasoap.bench;

import deltasoap.bench.suite.Base64;
import deltasoap.bench.suite.Doubles;
import deltasoap.bench.suite.Events;
import deltasoap.bench.suite.Ints;
import deltasoap.bench.suite.Mios;
import deltasoap.bench.suite.Strings;
import deltasoap.bench.suite.Suite;
import jakarta.xml.ws.Holder;
import java.util.List;
import java.util.function.Consumer;

/** Calls of the operations of suite.wsdl by a proxy of the interface that is generated from it. */
final class JaxWsCalls {
    private JaxWsCalls() {
    }

    static Toolkit.Call of(Suite suite, String operation, Object content) {
        return switch (operation) {
            case "echoVoid" -> () -> {
                suite.echoVoid();
                return null;
            };
            case "echoInts" -> echo(suite::echoInts, ((Ints) content).getItem());
            case "echoDoubles" -> echo(suite::echoDoubles, ((Doubles) content).getItem());
            case "echoStrings" -> echo(suite::echoStrings, ((Strings) content).getItem());
            case "echoMios" -> echo(suite::echoMios, ((Mios) content).getItem());
            case "echoEvents" -> echo(suite::echoEvents, ((Events) content).getItem());
            case "echoBase64" -> echo(suite::echoBase64, ((Base64) content).getData());
            case "sendInts" -> () -> suite.sendInts(((Ints) content).getItem());
            case "sendDoubles" -> () -> suite.sendDoubles(((Doubles) content).getItem());
            case "sendStrings" -> () -> suite.sendStrings(((Strings) content).getItem());
            case "sendMios" -> () -> suite.sendMios(((Mios) content).getItem());
            case "sendEvents" -> () -> suite.sendEvents(((Events) content).getItem());
            case "sendBase64" -> () -> suite.sendBase64(((Base64) content).getData());
            case "receiveInts" -> () -> suite.receiveInts((int) content);
            case "receiveDoubles" -> () -> suite.receiveDoubles((int) content);
            case "receiveStrings" -> () -> suite.receiveStrings((int) content);
            case "receiveMios" -> () -> suite.receiveMios((int) content);
            case "receiveEvents" -> () -> suite.receiveEvents((int) content);
            case "receiveBase64" -> () -> suite.receiveBase64((int) content);
            default -> throw new IllegalArgumentException("unknown operation " + operation);
        };
    }

    /** One parameter is both sent and received. */
    private static <T> Toolkit.Call echo(Consumer<Holder<T>> operation, T sent) {
        return () -> {
            Holder<T> holder = new Holder<>(sent);
            operation.accept(holder);
            return holder.value;
        };
    }
}
