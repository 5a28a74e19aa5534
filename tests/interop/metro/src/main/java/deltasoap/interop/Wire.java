package deltasoap.interop;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** A proxy for all HTTP of this program, which keeps messages, and changes them on the way. */
final class Wire extends Traffic {
    Wire() throws IOException {
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.setExecutor(Executors.newCachedThreadPool());
        proxy.createContext("/", this::pass);
        proxy.start();
        System.setProperty("http.proxyHost", proxy.getAddress().getHostString());
        System.setProperty("http.proxyPort", String.valueOf(proxy.getAddress().getPort()));
        System.setProperty("http.nonProxyHosts", "");
    }

    /** Lets messages pass unchanged. */
    void reset() {
        requests = text -> text;
        responses = text -> text;
    }

    private synchronized void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            request = requests.apply(text(exchange.getRequestBody()));
            HttpURLConnection onward = forward(exchange);
            status = onward.getResponseCode();
            response = text(status < 400 ? onward.getInputStream() : onward.getErrorStream());
            byte[] changed = responses.apply(response).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", onward.getContentType());
            exchange.sendResponseHeaders(status, changed.length);
            exchange.getResponseBody().write(changed);
        }
    }

    private HttpURLConnection forward(HttpExchange exchange) throws IOException {
        URI uri = exchange.getRequestURI();
        HttpURLConnection onward = (HttpURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
        for (String name : List.of("Content-Type", "SOAPAction")) {
            onward.setRequestProperty(name, exchange.getRequestHeaders().getFirst(name));
        }
        if (exchange.getRequestMethod().equals("POST")) {
            onward.setDoOutput(true);
            onward.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        }
        return onward;
    }

    private static String text(InputStream stream) throws IOException {
        return stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
}
