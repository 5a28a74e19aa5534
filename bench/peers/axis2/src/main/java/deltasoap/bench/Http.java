package deltasoap.bench;

import deltasoap.bench.suite.SuiteMessageReceiverInOut;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.xml.namespace.QName;
import org.apache.axis2.AxisFault;
import org.apache.axis2.Constants;
import org.apache.axis2.context.ConfigurationContext;
import org.apache.axis2.context.ConfigurationContextFactory;
import org.apache.axis2.context.MessageContext;
import org.apache.axis2.description.AxisOperation;
import org.apache.axis2.description.AxisService;
import org.apache.axis2.description.TransportInDescription;
import org.apache.axis2.description.WSDL11ToAxisServiceBuilder;
import org.apache.axis2.kernel.http.HTTPConstants;
import org.apache.axis2.transport.http.AxisServlet;
import org.apache.axis2.transport.http.AxisServletListener;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Axis2's servlet in the last version of Jetty that supports its servlet API. */
final class Http {
    private static final QName SERVICE = new QName("urn:bench", "Suite");
    private static final int IDLE_MS = 3_600_000;

    private Http() {
    }

    /** Starts the server; returns its port. */
    static int serve(Transport transport) throws Exception {
        ConfigurationContext configuration = configuration();
        AxisService service = service(transport.isGzip());
        configuration.getAxisConfiguration().addService(service);
        Server server = new Server();
        ServerConnector connector = connector(server, transport);
        connector.setHost("127.0.0.1");
        connector.setIdleTimeout(IDLE_MS);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        // The servlet looks for its context here; otherwise it would read one from the files of a
        // web application.
        context.setAttribute(AxisServlet.CONFIGURATION_CONTEXT, configuration);
        context.addServlet(new ServletHolder(new Servlet(service)), "/*");
        server.setHandler(context);
        server.start();
        return connector.getLocalPort();
    }

    /** Axis2's default configuration, except its own server, which the servlet replaces. */
    private static ConfigurationContext configuration() throws Exception {
        ConfigurationContext configuration = ConfigurationContextFactory.createDefaultConfigurationContext();
        for (String scheme : new String[] {Constants.TRANSPORT_HTTP, Constants.TRANSPORT_HTTPS}) {
            TransportInDescription receiver = new TransportInDescription(scheme);
            receiver.setReceiver(new AxisServletListener());
            configuration.getAxisConfiguration().addTransportIn(receiver);
        }
        return configuration;
    }

    /** The service of suite.wsdl, with the message receiver that is generated from it. */
    private static AxisService service(boolean isGzip) throws Exception {
        try (InputStream description = Http.class.getResourceAsStream("/suite.wsdl")) {
            WSDL11ToAxisServiceBuilder builder = new WSDL11ToAxisServiceBuilder(description, SERVICE, SERVICE.getLocalPart());
            builder.setServerSide(true);
            AxisService service = builder.populateService();
            service.setClassLoader(Http.class.getClassLoader());
            service.addParameter(Constants.SERVICE_CLASS, SuiteService.class.getName());
            service.setScope(Constants.SCOPE_APPLICATION);
            for (Iterator<AxisOperation> operations = service.getOperations(); operations.hasNext();) {
                operations.next().setMessageReceiver(isGzip ? new Compressing() : new SuiteMessageReceiverInOut());
            }
            return service;
        }
    }

    private static ServerConnector connector(Server server, Transport transport) throws Exception {
        HttpConfiguration configuration = new HttpConfiguration();
        if (!transport.isTls()) {
            return new ServerConnector(server, new HttpConnectionFactory(configuration));
        }
        configuration.addCustomizer(new SecureRequestCustomizer(false));
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setSslContext(transport.context());
        return new ServerConnector(server, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(configuration));
    }

    /**
     * Sets the service of each request: Axis2 would find it in a path such as
     * {@code /axis2/services/Suite}.
     */
    private static final class Servlet extends AxisServlet {
        private final transient AxisService service;

        Servlet(AxisService service) {
            this.service = service;
        }

        @Override
        protected MessageContext createMessageContext(HttpServletRequest request, HttpServletResponse response, boolean isInvocation)
                throws IOException {
            MessageContext context = super.createMessageContext(request, response, isInvocation);
            context.setAxisService(service);
            return context;
        }
    }

    /** Requests compression of each response. */
    private static final class Compressing extends SuiteMessageReceiverInOut {
        @Override
        public void invokeBusinessLogic(MessageContext request, MessageContext response) throws AxisFault {
            super.invokeBusinessLogic(request, response);
            response.getOptions().setProperty(HTTPConstants.MC_GZIP_RESPONSE, true);
        }
    }
}
