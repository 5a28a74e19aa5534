package deltasoap.interop;

import java.net.URL;
import org.apache.axis.client.Service;
import values.encoded.EncodedSoap11Stub;
import values.types.TypesSoap11Stub;

/**
 * Takes every case of both services from our server, and gives it back to be checked, with Apache Axis 1.4.
 *
 * <p>Arguments: the URLs of /types and /encoded. Prints one JSON object a test, as tests/interop/README.md says. Values that occur
 * more than once are written as references (multi-ref), as by default.
 */
public final class Client {
    public static void main(String[] arguments) throws Exception {
        new Tests("literal", "urn:types", new TypesSoap11Stub(new URL(arguments[0]), new Service())).run();
        new Tests("encoded", "urn:encoded", new EncodedSoap11Stub(new URL(arguments[1]), new Service())).run();
    }
}
