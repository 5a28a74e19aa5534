package deltasoap.bench;

import org.apache.axis.AxisFault;
import org.apache.axis.MessageContext;
import org.apache.axis.SimpleChain;
import org.apache.axis.SimpleTargetedChain;
import org.apache.axis.configuration.SimpleProvider;
import org.apache.axis.handlers.BasicHandler;
import org.apache.axis.handlers.soap.SOAPService;
import org.apache.axis.server.AxisServer;
import org.apache.axis.transport.http.AxisServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** Axis's servlet in the last version of Jetty that supports its servlet API. */
final class Http {
    private static final String NAME = "AxisServlet";

    private Http() {
    }

    /** Starts the server; returns its port. */
    static int serve(AxisServer engine, SOAPService service, SOAPService encoded) throws Exception {
        SimpleChain requests = new SimpleChain();
        requests.addHandler(new Service(service, encoded));
        ((SimpleProvider) engine.getConfig()).deployTransport("http", new SimpleTargetedChain(requests, null, null));
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setIdleTimeout(3_600_000);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        // The servlet looks for its engine here, and would create one otherwise.
        engine.setName(NAME);
        context.setAttribute(NAME + "AxisEngine", engine);
        ServletHolder holder = new ServletHolder(NAME, AxisServlet.class);
        holder.setInitParameter("axis.development.system", "false");
        context.addServlet(holder, "/*");
        server.setHandler(context);
        server.start();
        return connector.getLocalPort();
    }

    /** Selects the service of each request by its action: literal or encoded. */
    private static final class Service extends BasicHandler {
        private final transient SOAPService service;
        private final transient SOAPService encoded;

        Service(SOAPService service, SOAPService encoded) {
            this.service = service;
            this.encoded = encoded;
        }

        @Override
        public void invoke(MessageContext context) throws AxisFault {
            String action = context.getSOAPActionURI();
            context.setService(action != null && Operations.isEncoded(action.replace("\"", "")) ? encoded : service);
        }
    }
}
