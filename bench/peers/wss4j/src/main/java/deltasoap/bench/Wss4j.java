package deltasoap.bench;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.StringJoiner;

import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;

import org.apache.wss4j.common.WSEncryptionPart;
import org.apache.wss4j.common.crypto.Merlin;
import org.apache.wss4j.dom.WSConstants;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.apache.wss4j.dom.handler.RequestData;
import org.apache.wss4j.dom.handler.WSHandlerResult;
import org.apache.wss4j.dom.message.WSSecHeader;
import org.apache.wss4j.dom.message.WSSecSignature;
import org.apache.wss4j.dom.message.WSSecTimestamp;
import org.w3c.dom.Document;

/**
 * Apache WSS4J, which is CXF's WS-Security, over Java's own tree: signs and verifies body and
 * timestamp.
 *
 * <p>Speaks the part of ../../PROTOCOL.md that `deltasoap-bench security` needs. What is prepared
 * begins with the certificate and the key in PEM, then there is the message.
 */
public final class Wss4j {
    private static final String SOAP = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final String RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    private static final String SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256";
    private static final String PASSWORD = "in memory";
    private static final int COPIES = 16;
    /** Seconds after which a message would be too old: not before the measurement ends. */
    private static final int DAY = 24 * 60 * 60;

    /** Work that can be repeated. */
    private interface Work {
        /** Returns the nanoseconds of one run. */
        long once() throws Exception;

        int bytes();

        byte[] output() throws Exception;
    }

    private final InputStream requests = new BufferedInputStream(System.in);
    private final PrintStream answers = System.out;
    private Work prepared;

    public static void main(String[] arguments) throws Exception {
        WSSConfig.init();
        new Wss4j().run();
        System.exit(0);
    }

    private void run() throws IOException {
        for (String line; (line = line()) != null && !line.equals("quit"); answers.flush()) {
            try {
                answer(line.split(" "));
            } catch (Exception error) {
                String text = error.getClass().getSimpleName() + ": " + error.getMessage();
                answers.println("{\"ok\":false,\"error\":\"" + text.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}");
            }
        }
    }

    private void answer(String[] words) throws Exception {
        switch (words[0]) {
            case "hello" -> {
                String version = WSSecurityEngine.class.getPackage().getImplementationVersion();
                answers.println("{\"peer\":\"wss4j\",\"version\":\"" + version
                        + "\",\"workloads\":[\"sign\",\"verify\"],\"warm\":4000}");
            }
            case "prepare" -> {
                prepared = null;
                byte[] input = requests.readNBytes(Integer.parseInt(words[3]));
                prepared = prepare(words[1], new String(input, StandardCharsets.UTF_8));
                answers.println("{\"ok\":true,\"checksum\":\"\",\"bytes\":" + prepared.bytes() + "}");
            }
            case "run" -> {
                StringJoiner times = new StringJoiner(",", "[", "]");
                for (int left = Integer.parseInt(words[1]); left > 0; left--) {
                    times.add(Long.toString(prepared.once()));
                }
                answers.println("{\"ns\":" + times + ",\"checksum\":\"\"}");
            }
            case "output" -> {
                byte[] output = prepared.output();
                answers.println(output.length);
                answers.write(output);
            }
            default -> throw new IllegalArgumentException("this peer does not know " + words[0]);
        }
    }

    private static Work prepare(String workload, String input) throws Exception {
        int begin = input.indexOf('<');
        Merlin crypto = crypto(input.substring(0, begin));
        byte[] message = input.substring(begin).getBytes(StandardCharsets.UTF_8);
        Work work = workload.equals("sign") ? new Sign(crypto, message) : new Verify(crypto, message);
        work.once();
        return work;
    }

    /** Signs a tree. */
    private static final class Sign implements Work {
        private final Merlin crypto;
        private final byte[] message;
        private Document signed;

        Sign(Merlin crypto, byte[] message) {
            this.crypto = crypto;
            this.message = message;
        }

        @Override
        public long once() throws Exception {
            Document document = parse(message);
            long start = System.nanoTime();
            WSSecHeader header = new WSSecHeader(document);
            header.insertSecurityHeader();
            WSSecTimestamp timestamp = new WSSecTimestamp(header);
            timestamp.setTimeToLive(DAY);
            timestamp.build();
            WSSecSignature signature = new WSSecSignature(header);
            signature.setUserInfo("own", PASSWORD);
            signature.setKeyIdentifierType(WSConstants.BST_DIRECT_REFERENCE);
            signature.setSignatureAlgorithm(RSA_SHA256);
            signature.setDigestAlgo(SHA256);
            signature.getParts().add(new WSEncryptionPart("Body", SOAP, ""));
            signature.getParts().add(new WSEncryptionPart("Timestamp", WSConstants.WSU_NS, ""));
            signature.build(crypto);
            long time = System.nanoTime() - start;
            signed = document;
            return time;
        }

        @Override
        public int bytes() {
            return message.length;
        }

        @Override
        public byte[] output() throws Exception {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            TransformerFactory.newInstance().newTransformer().transform(new DOMSource(signed), new StreamResult(out));
            return out.toByteArray();
        }
    }

    /** Parses a message, and verifies it. */
    private static final class Verify implements Work {
        private final Merlin crypto;
        private final byte[][] messages = new byte[COPIES][];
        private int next;

        Verify(Merlin crypto, byte[] message) {
            this.crypto = crypto;
            for (int i = 0; i < COPIES; i++) {
                messages[i] = message.clone();
            }
        }

        @Override
        public long once() throws Exception {
            next = (next + 1) % COPIES;
            long start = System.nanoTime();
            Document document = parse(messages[next]);
            RequestData request = new RequestData();
            request.setSigVerCrypto(crypto);
            request.setTimeStampTTL(DAY);
            WSHandlerResult result = new WSSecurityEngine().processSecurityHeader(document, request);
            long time = System.nanoTime() - start;
            List<?> signatures = result.getActionResults().get(WSConstants.SIGN);
            List<?> times = result.getActionResults().get(WSConstants.TS);
            if (signatures == null || times == null) {
                throw new IllegalStateException("no signature or no timestamp was verified");
            }
            return time;
        }

        @Override
        public int bytes() {
            return messages[0].length;
        }

        @Override
        public byte[] output() {
            throw new IllegalStateException("nothing was written");
        }
    }

    private static Document parse(byte[] message) throws Exception {
        return BUILDER.parse(new ByteArrayInputStream(message));
    }

    private static final DocumentBuilder BUILDER = builder();

    private static DocumentBuilder builder() {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setNamespaceAware(true);
            return factory.newDocumentBuilder();
        } catch (javax.xml.parsers.ParserConfigurationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Returns the key store with a certificate and its key. */
    private static Merlin crypto(String pem) throws Exception {
        String[] blocks = pem.split("(?<=-----)\\s*(?=-----BEGIN)");
        Certificate certificate = CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(blocks[0].getBytes(StandardCharsets.US_ASCII)));
        byte[] der = Base64.getMimeDecoder().decode(blocks[1].replaceAll("-----[^-]*-----", ""));
        PrivateKey key = KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", key, PASSWORD.toCharArray(), new Certificate[] {certificate});
        Merlin crypto = new Merlin();
        crypto.setKeyStore(store);
        return crypto;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int octet; (octet = requests.read()) != '\n'; line.append((char) octet)) {
            if (octet < 0) {
                return null;
            }
        }
        return line.toString();
    }
}
