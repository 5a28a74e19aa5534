package deltasoap.interop;

import java.net.URI;
import java.net.URL;
import java.util.Map;

import com.sun.xml.wss.XWSSConstants;

/** A port of secured/bank.wsdl, called by Metro. */
final class MetroPort extends SecuredPort {
    /** Adds to a WSDL what a client needs besides. */
    interface Configuration {
        URL apply(URL wsdl) throws Exception;
    }

    /**
     * Reads the WSDL from the server, so that it follows the policies that the server publishes.
     */
    MetroPort(URI origin, String port, Wire wire, Configuration configuration) throws Exception {
        super(origin, port, configured(origin, port, wire, configuration), wire);
        Map<String, Object> context = dispatch.getRequestContext();
        context.put(XWSSConstants.USERNAME_PROPERTY, SecuredTests.USER);
        context.put(XWSSConstants.PASSWORD_PROPERTY, SecuredTests.PASSWORD);
    }

    /** Returns the WSDL, which is loaded through the proxy too. */
    private static URL configured(URI origin, String port, Wire wire, Configuration configuration) throws Exception {
        wire.reset();
        return configuration.apply(published(origin, port));
    }
}
