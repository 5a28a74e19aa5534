package deltasoap.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** HTTP/1.1 requests over a persistent connection. There are no answers. */
final class Connection implements AutoCloseable {
    private static final String HEAD =
            "POST /bench HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\n";

    private final Socket socket = new Socket();
    private final OutputStream out;

    /** With a limit of unacknowledged octets; 0 for the system's default. */
    Connection(int port, int buffer) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        if (buffer > 0) {
            socket.setSendBufferSize(buffer);
        }
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        out = socket.getOutputStream();
    }

    /** Sends a message that was written to memory first, since its length precedes it. */
    void send(ByteArrayOutputStream message) throws IOException {
        String head = HEAD + "Content-Length: " + message.size() + "\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        message.writeTo(out);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
