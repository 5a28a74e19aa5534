package deltasoap.interop;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Certificates and keys from PEM files. */
final class Pem {
    private static final char[] PASSWORD = "in memory".toCharArray();

    private Pem() {}

    static TrustManager[] trust(Path authority) throws Exception {
        KeyStore store = empty();
        store.setCertificateEntry("authority", certificate(authority));
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    static KeyManager[] identity(Path certificate, Path key) throws Exception {
        KeyStore store = empty();
        store.setKeyEntry("server", key(key, "EC"), PASSWORD, new Certificate[] {certificate(certificate)});
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, PASSWORD);
        return factory.getKeyManagers();
    }

    static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    static Certificate certificate(Path file) throws Exception {
        byte[] pem = Files.readAllBytes(file);
        return CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem));
    }

    static PrivateKey key(Path file, String algorithm) throws Exception {
        String text = Files.readString(file).replaceAll("-----[^-]*-----", "");
        byte[] key = Base64.getMimeDecoder().decode(text);
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(key));
    }
}
