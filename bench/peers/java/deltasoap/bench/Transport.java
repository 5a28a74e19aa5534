package deltasoap.bench;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** The transport between server and client: the protocol's {@code transport}. */
record Transport(boolean isGzip, boolean isTls, Path folder) {
    static final Transport PLAIN = new Transport(false, false, null);
    private static final char[] PASSWORD = "bench".toCharArray();

    static Transport named(String name, String folder) {
        return new Transport(name.startsWith("gzip"), name.endsWith("tls"), Path.of(folder));
    }

    /** Returns the URL of the service of a server at this port. */
    String address(int port) {
        return (isTls ? "https" : "http") + "://127.0.0.1:" + port + "/bench";
    }

    /** Returns a free port, for servers that need to be given one. */
    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    /** Returns the certificate with its key. */
    KeyManager[] identity() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        store.setKeyEntry("bench", key(), PASSWORD, new Certificate[] {certificate()});
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, PASSWORD);
        return managers.getKeyManagers();
    }

    /** Trusts only the certificate. */
    TrustManager[] trust() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        store.setCertificateEntry("bench", certificate());
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        return managers.getTrustManagers();
    }

    /** For a server and its client. */
    SSLContext context() throws GeneralSecurityException, IOException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(identity(), trust(), null);
        return context;
    }

    private Certificate certificate() throws GeneralSecurityException, IOException {
        try (InputStream pem = Files.newInputStream(folder.resolve("certificate.pem"))) {
            return CertificateFactory.getInstance("X.509").generateCertificate(pem);
        }
    }

    private PrivateKey key() throws GeneralSecurityException, IOException {
        String text = Files.readString(folder.resolve("key.pem")).replaceAll("-----[^-]+-----|\\s", "");
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    }
}
