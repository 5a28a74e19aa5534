package deltasoap.interop;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.xml.datatype.XMLGregorianCalendar;

import bench.Bench;
import bench.BenchFault;
import bench.BenchFault_Exception;
import bench.Mio;
import bench.Nothing;
import bench.Person;
import bench.Trace;
import jakarta.activation.DataHandler;
import jakarta.jws.WebService;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.soap.SOAPBinding;

/** The operations. A holder has the request's value before the call and the response's after it. */
@WebService(
        endpointInterface = "bench.Bench",
        targetNamespace = "urn:bench",
        serviceName = "Bench",
        portName = "Soap12")
@BindingType(SOAPBinding.SOAP12HTTP_BINDING)
public final class BenchService implements Bench {
    private final Map<String, Integer> topics = new ConcurrentHashMap<>();

    @Override
    public void echoVoid() {}

    @Override
    public void echoBooleans(Holder<List<Boolean>> item) {}

    @Override
    public void echoInts(Holder<List<Integer>> item) {}

    @Override
    public void echoLongs(Holder<List<Long>> item) {}

    @Override
    public void echoFloats(Holder<List<Float>> item) {}

    @Override
    public void echoDoubles(Holder<List<Double>> item) {}

    @Override
    public void echoDecimals(Holder<List<BigDecimal>> item) {}

    @Override
    public void echoDateTimes(Holder<List<XMLGregorianCalendar>> item) {}

    @Override
    public void echoStrings(Holder<List<String>> item) {}

    @Override
    public void echoMios(Holder<List<Mio>> item) {}

    @Override
    public void echoBase64(Holder<byte[]> data) {}

    @Override
    public void echoStruct(Holder<Person> person) {}

    @Override
    public int sendInts(List<Integer> item) {
        return item.size();
    }

    @Override
    public int sendDoubles(List<Double> item) {
        return item.size();
    }

    @Override
    public int sendStrings(List<String> item) {
        return item.size();
    }

    @Override
    public int sendMios(List<Mio> item) {
        return item.size();
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
    public void echoAttachment(Holder<String> name, Holder<DataHandler> data) {}

    @Override
    public int sendAttachment(String name, DataHandler data) {
        try {
            return (int) data.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public void notify(String topic) {
        topics.merge(topic, 1, Integer::sum);
    }

    @Override
    public int notified(String topic) {
        return topics.getOrDefault(topic, 0);
    }

    @Override
    public void fail(String code) throws BenchFault_Exception {
        BenchFault detail = new BenchFault();
        detail.setCode(code);
        detail.setLimit(code.codePointCount(0, code.length()));
        throw new BenchFault_Exception("this operation always fails", detail);
    }
}
