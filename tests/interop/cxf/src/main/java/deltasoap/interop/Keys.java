package deltasoap.interop;

import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.Map;

import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;

import org.apache.cxf.ws.security.SecurityConstants;
import org.apache.wss4j.common.crypto.Merlin;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/**
 * What CXF's WS-Security must know besides the policies of a WSDL: keys, passwords, algorithms.
 *
 * <p>A folder has PEM files, which our server makes: NAME.pem with a certificate, NAME.key with its
 * key.
 */
record Keys(Path folder) {
    private static final String RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    private static final String RSA_OAEP = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";

    /** Returns the properties of a client that accepts the signatures of one certificate alone. */
    Map<String, Object> client(String own, String trusted) throws Exception {
        Map<String, Object> properties = common(own, trusted);
        properties.put(SecurityConstants.ENCRYPT_CERT, certificate("server"));
        properties.put(SecurityConstants.USERNAME, SecuredTests.USER);
        return properties;
    }

    /**
     * Returns the properties of the server, which trusts an authority, and encrypts for whoever has
     * signed.
     */
    Map<String, Object> server() throws Exception {
        Map<String, Object> properties = common("server", "authority");
        properties.put(SecurityConstants.ENCRYPT_USERNAME, "useReqSigCert");
        return properties;
    }

    private Map<String, Object> common(String own, String trusted) throws Exception {
        KeyStore store = Pem.empty();
        Certificate[] chain = {certificate(own)};
        store.setKeyEntry(own, Pem.key(file(own, "key"), "RSA"), SecuredTests.PASSWORD.toCharArray(), chain);
        store.setCertificateEntry(trusted, certificate(trusted));
        Merlin crypto = new Merlin();
        crypto.setKeyStore(store);
        Map<String, Object> properties = new HashMap<>();
        properties.put(SecurityConstants.SIGNATURE_CRYPTO, crypto);
        properties.put(SecurityConstants.SIGNATURE_USERNAME, own);
        properties.put(SecurityConstants.ENCRYPT_CRYPTO, crypto);
        properties.put(SecurityConstants.CALLBACK_HANDLER, (CallbackHandler) Keys::answer);
        // The suites of WS-SecurityPolicy sign with SHA-1 unless CXF is told otherwise.
        properties.put(SecurityConstants.ASYMMETRIC_SIGNATURE_ALGORITHM, RSA_SHA256);
        properties.put(SecurityConstants.CUSTOM_ALG_SUITE_ASYMMETRIC_SIGNATURE, RSA_SHA256);
        properties.put(SecurityConstants.CUSTOM_ALG_SUITE_ASYMMETRIC_KEY_ENCRYPTION_ALGORITHM, RSA_OAEP);
        return properties;
    }

    private X509Certificate certificate(String name) throws Exception {
        return (X509Certificate) Pem.certificate(file(name, "pem"));
    }

    private Path file(String name, String extension) {
        return folder.resolve(name + "." + extension);
    }

    /** Knows the password of the user and of all keys. */
    private static void answer(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            ((WSPasswordCallback) callback).setPassword(SecuredTests.PASSWORD);
        }
    }
}
