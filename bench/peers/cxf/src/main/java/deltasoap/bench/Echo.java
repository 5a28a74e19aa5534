package deltasoap.bench;

import deltasoap.bench.service.Bench;
import deltasoap.bench.service.BenchFault;
import deltasoap.bench.service.BenchFault_Exception;
import deltasoap.bench.service.Mio;
import deltasoap.bench.service.Nothing;
import deltasoap.bench.service.Person;
import deltasoap.bench.service.Trace;
import jakarta.activation.DataHandler;
import jakarta.jws.WebService;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.WebServiceException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import javax.xml.datatype.XMLGregorianCalendar;

/**
 * The service, against the interface that wsdl2java makes of {@code testdata/wsdl/bench.wsdl}. Where the response has the
 * request's element there is one parameter for both, so that an echo has nothing to do.
 */
@WebService(endpointInterface = "deltasoap.bench.service.Bench", targetNamespace = "urn:bench", serviceName = "Bench")
public final class Echo implements Bench {
    /** Notifications so far, by topic. */
    private final ConcurrentMap<String, Integer> notified = new ConcurrentHashMap<>();

    @Override
    public void echoVoid() {
    }

    @Override
    public void echoBooleans(Holder<List<Boolean>> item) {
    }

    @Override
    public void echoInts(Holder<List<Integer>> item) {
    }

    @Override
    public void echoLongs(Holder<List<Long>> item) {
    }

    @Override
    public void echoFloats(Holder<List<Float>> item) {
    }

    @Override
    public void echoDoubles(Holder<List<Double>> item) {
    }

    @Override
    public void echoDecimals(Holder<List<BigDecimal>> item) {
    }

    @Override
    public void echoDateTimes(Holder<List<XMLGregorianCalendar>> item) {
    }

    @Override
    public void echoStrings(Holder<List<String>> item) {
    }

    @Override
    public void echoMios(Holder<List<Mio>> item) {
    }

    @Override
    public void echoBase64(Holder<byte[]> data) {
    }

    @Override
    public void echoStruct(Holder<Person> person) {
    }

    @Override
    public int sendInts(List<Integer> item) {
        return count(item);
    }

    @Override
    public int sendDoubles(List<Double> item) {
        return count(item);
    }

    @Override
    public int sendStrings(List<String> item) {
        return count(item);
    }

    @Override
    public int sendMios(List<Mio> item) {
        return count(item);
    }

    @Override
    public int sendBase64(byte[] data) {
        return data.length;
    }

    @Override
    public Nothing trace(Nothing parameters, Holder<Trace> header) {
        if (header.value != null) {
            header.value.setHops(header.value.getHops() + 1);
        }
        return new Nothing();
    }

    @Override
    public void echoAttachment(Holder<String> name, Holder<DataHandler> data) {
    }

    @Override
    public int sendAttachment(String name, DataHandler data) {
        try (InputStream in = data.getInputStream()) {
            return (int) in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            throw new WebServiceException(e);
        }
    }

    @Override
    public void notify(String topic) {
        notified.merge(topic, 1, Integer::sum);
    }

    @Override
    public int notified(String topic) {
        return notified.getOrDefault(topic, 0);
    }

    @Override
    public void fail(String code) throws BenchFault_Exception {
        BenchFault detail = new BenchFault();
        detail.setCode(code);
        detail.setLimit(code.codePointCount(0, code.length()));
        throw new BenchFault_Exception("this operation always fails", detail);
    }

    /** Without an item there is no list. */
    private static int count(List<?> item) {
        return item == null ? 0 : item.size();
    }
}
