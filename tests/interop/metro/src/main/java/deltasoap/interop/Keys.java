package deltasoap.interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;

/**
 * What Metro's WS-Security must know besides the policies of a WSDL: its own assertions, which are
 * added to each policy. A client usually has them in wsit-client.xml, a server in its WSDL.
 *
 * <p>A folder has PEM files, which our server makes: NAME.pem with a certificate, NAME.key with its
 * key.
 */
record Keys(Path folder) {
    private static final String STORE_PASSWORD = "in a file";

    /** Returns the WSDL of a client, which trusts an authority. */
    URL client(URL wsdl, String own, String authority) throws Exception {
        return with(wsdl, stores("client", own, authority));
    }

    /** Returns the WSDL of the server, which trusts an authority. */
    URL server(URL wsdl) throws Exception {
        return with(wsdl, "<sc:ValidatorConfiguration xmlns:sc='http://schemas.sun.com/2006/03/wss/server'>"
                + "<sc:Validator name='usernameValidator' classname='" + Passwords.class.getName() + "'/>"
                + "</sc:ValidatorConfiguration>" + stores("server", "server", "authority"));
    }

    /** Adds assertions to each policy of a WSDL. */
    private static URL with(URL wsdl, String assertions) throws IOException {
        try (InputStream stream = wsdl.openStream()) {
            String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            String policy = "<wsp:Policy wsu:Id=\"\\w*\">\\s*<wsp:ExactlyOne>\\s*<wsp:All>";
            String changed = text.replaceAll(policy, "$0" + assertions);
            return Files.writeString(temporary(".wsdl"), changed).toUri().toURL();
        }
    }

    private String stores(String side, String own, String trusted) throws Exception {
        KeyStore keys = Pem.empty();
        Certificate[] chain = {certificate(own)};
        keys.setKeyEntry(own, Pem.key(file(own, "key"), "RSA"), STORE_PASSWORD.toCharArray(), chain);
        KeyStore trust = Pem.empty();
        trust.setCertificateEntry(trusted, certificate(trusted));
        return store(side, "KeyStore", keys, "alias='" + own + "'") + store(side, "TrustStore", trust, "");
    }

    private static String store(String side, String name, KeyStore store, String attributes) throws Exception {
        Path file = temporary(".p12");
        try (OutputStream stream = Files.newOutputStream(file)) {
            store.store(stream, STORE_PASSWORD.toCharArray());
        }
        return "<sc:" + name + " xmlns:sc='http://schemas.sun.com/2006/03/wss/" + side + "' location='" + file
                + "' type='PKCS12' storepass='" + STORE_PASSWORD + "' " + attributes + "/>";
    }

    private static Path temporary(String extension) throws IOException {
        Path file = Files.createTempFile("metro", extension);
        file.toFile().deleteOnExit();
        return file;
    }

    private Certificate certificate(String name) throws Exception {
        return Pem.certificate(file(name, "pem"));
    }

    private Path file(String name, String extension) {
        return folder.resolve(name + "." + extension);
    }
}
