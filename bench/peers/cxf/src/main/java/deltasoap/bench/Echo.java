package deltasoap.bench;

import deltasoap.bench.service.Bench;
import deltasoap.bench.service.BenchFault;
import deltasoap.bench.service.BenchFault_Exception;
import deltasoap.bench.service.Mio;
import deltasoap.bench.service.Person;
import jakarta.jws.WebService;
import jakarta.xml.ws.Holder;
import java.math.BigDecimal;
import java.util.List;
import javax.xml.datatype.XMLGregorianCalendar;

/**
 * The service, against the interface that wsdl2java makes of {@code testdata/wsdl/bench.wsdl}. Where the response has the
 * request's element there is one parameter for both, so that an echo has nothing to do.
 */
@WebService(endpointInterface = "deltasoap.bench.service.Bench", targetNamespace = "urn:bench", serviceName = "Bench")
public final class Echo implements Bench {
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
