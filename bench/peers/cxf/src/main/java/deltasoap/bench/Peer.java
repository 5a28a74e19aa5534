package deltasoap.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.version.Version;

/** Apache CXF as a peer of the benchmark: of the protocol of PROTOCOL.md, what makes it a server. */
public final class Peer {
    private static final String OPERATIONS = "\"echoVoid\",\"echoInts\",\"echoDoubles\",\"echoStrings\",\"echoMios\",\"echoBase64\","
            + "\"sendInts\",\"sendDoubles\",\"sendStrings\",\"sendMios\",\"sendBase64\"";

    private Peer() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = System.out;
        // Whatever a library prints is no answer.
        System.setOut(System.err);
        for (String line; (line = requests.readLine()) != null && !line.equals("quit");) {
            answers.print(answer(line, requests) + "\n");
            answers.flush();
        }
        System.exit(0);
    }

    private static String answer(String line, BufferedReader requests) {
        try {
            String[] words = line.split(" ");
            return switch (words[0]) {
                case "hello" -> "{\"peer\":\"cxf\",\"version\":\"" + Version.getCurrentVersion()
                        + "\",\"workloads\":[],\"operations\":[" + OPERATIONS + "]}";
                case "serve" -> "{\"ok\":true,\"port\":" + serve(Integer.parseInt(words[1])) + "}";
                case "prepare" -> refuse(words, requests);
                default -> error("cannot " + words[0]);
            };
        } catch (Exception failure) {
            return error(String.valueOf(failure.getMessage()));
        }
    }

    /** The message follows the line in any case. */
    private static String refuse(String[] words, BufferedReader requests) throws IOException {
        long left = Long.parseLong(words[3]);
        while (left > 0 && requests.read() >= 0) {
            left--;
        }
        return error("unknown workload " + words[1]);
    }

    private static String error(String text) {
        return "{\"ok\":false,\"error\":\"" + text.replace("\\", "/").replace("\"", "'").replace("\n", " ") + "\"}";
    }

    /**
     * CXF takes its Jetty's port from the address, so that a free one has to be found first. However many connections there will
     * be, Jetty's pool of threads serves those that have something to say.
     */
    private static int serve(int connections) throws IOException {
        if (connections <= 0) {
            throw new IllegalArgumentException("usage: serve CONNECTIONS");
        }
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        JaxWsServerFactoryBean server = new JaxWsServerFactoryBean();
        server.setServiceBean(new Echo());
        server.setAddress("http://127.0.0.1:" + port + "/bench");
        server.create();
        return port;
    }
}
