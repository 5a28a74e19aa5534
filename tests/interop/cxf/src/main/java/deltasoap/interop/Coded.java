package deltasoap.interop;

import java.net.URI;
import java.util.logging.Level;
import java.util.logging.Logger;

import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.WebServiceException;
import orders.Order;
import orders.Orders;
import orders.Orders_Service;
import orders.ReserveOutOfStock;
import orders.Session;
import orders.Status;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.transport.http.HTTPConduit;

/**
 * Calls the service /orders, whose WSDL our server makes from Rust types, with CXF.
 *
 * <p>Arguments: the URLs of /orders and /sums. Prints one JSON object per test;
 * tests/interop/README.md documents it.
 */
public final class Coded {
    private final String version;
    private final Orders port;

    private Coded(String version, Orders port) {
        this.version = version;
        this.port = port;
        // Otherwise the sender's faults in SOAP 1.2, which have this status, are not read.
        ((BindingProvider) port).getRequestContext().put(HTTPConduit.PROCESS_FAULT_ON_HTTP_400, true);
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        Orders_Service service = new Orders_Service(URI.create(arguments[0] + "?wsdl").toURL());
        new Coded("1.1", service.getOrdersSoap11()).run();
        new Coded("1.2", service.getOrdersSoap12()).run();
    }

    private void run() {
        Tests<Void> tests = new Tests<>();
        tests.add("coded structs", "an order with everything", endpoint -> order("most", Status.SENT, 2));
        tests.add("coded structs", "an order with only what is required", endpoint -> order("least", Status.OPEN, 0));
        tests.add("coded faults", "no fault", endpoint -> Tests.expect(port.reserve("<a>", 3), 7L, "left"));
        tests.add("coded faults", "a typed fault", endpoint -> reserveTooMany());
        tests.add("coded headers", "a header block both ways", endpoint -> renew());
        tests.add("coded headers", "a required block is missing", endpoint -> renewWithoutSession());
        tests.add("coded one-way", "cancellations arrive", endpoint -> cancel());
        tests.run(version);
    }

    private void order(String name, Status status, int lines) {
        Order order = port.sampleOrder(name);
        Tests.expect(order.getStatus(), status, "status");
        Tests.expect(order.getLine().size(), lines, "lines");
        Tests.expect(port.checkOrder(name, order), "", "problem");
    }

    private void reserveTooMany() {
        try {
            port.reserve("<a>", 11);
        } catch (ReserveOutOfStock fault) {
            Tests.expect(fault.getFaultInfo().getSku() + fault.getFaultInfo().getLeft(), "<a>10", "detail");
            return;
        }
        throw new Tests.AssertionFailure("expected a fault, got a response");
    }

    private void renew() {
        Session session = new Session();
        session.setUser("Ada & co");
        session.setHops(41);
        Holder<Session> block = new Holder<>(session);
        Tests.expect(port.renew(block), "Ada & co", "user");
        Tests.expect(block.value.getHops(), 42, "hops");
    }

    private void renewWithoutSession() {
        try {
            port.renew(new Holder<>());
        } catch (WebServiceException error) {
            boolean isFault = error.getCause() instanceof SoapFault fault && fault.getMessage().contains("Session");
            Tests.expect(isFault, true, "a fault about the block: " + error.getMessage());
            return;
        }
        throw new Tests.AssertionFailure("expected a fault, got a response");
    }

    private void cancel() throws InterruptedException {
        String topic = "CXF over " + version + ", " + ProcessHandle.current().pid();
        for (int n = 0; n < 3; n++) {
            port.cancel(topic);
        }
        long count = 0;
        for (int n = 0; n < 50 && count != 3; n++) {
            count = port.cancelled(topic);
            Thread.sleep(count == 3 ? 0 : 100);
        }
        Tests.expect(count, 3L, "count");
    }
}
