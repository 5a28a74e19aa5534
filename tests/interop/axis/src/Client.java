package deltasoap.interop;

import java.net.URL;
import org.apache.axis.client.Service;
import values.encoded.EncodedSoap11Stub;
import values.types.TypesSoap11Stub;

/**
 * Fetches every case of both services from our server with Apache Axis 1.4, and sends it back to be
 * checked.
 *
 * <p>Arguments: the URLs of /types and /encoded. Prints one JSON object per test;
 * tests/interop/README.md documents it. Values that occur more than once are encoded as references
 * (multi-ref), which is the default.
 */
public final class Client {
    public static void main(String[] arguments) throws Exception {
        new Tests("literal", "urn:types", new TypesSoap11Stub(new URL(arguments[0]), new Service())).run();
        new Tests("encoded", "urn:encoded", new EncodedSoap11Stub(new URL(arguments[1]), new Service())).run();
    }
}
