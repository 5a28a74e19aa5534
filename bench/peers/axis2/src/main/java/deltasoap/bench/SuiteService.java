package deltasoap.bench;

import deltasoap.bench.suite.Base64;
import deltasoap.bench.suite.Count;
import deltasoap.bench.suite.Doubles;
import deltasoap.bench.suite.EchoBase64;
import deltasoap.bench.suite.EchoBase64Response;
import deltasoap.bench.suite.EchoDoubles;
import deltasoap.bench.suite.EchoDoublesResponse;
import deltasoap.bench.suite.EchoEvents;
import deltasoap.bench.suite.EchoEventsResponse;
import deltasoap.bench.suite.EchoInts;
import deltasoap.bench.suite.EchoIntsResponse;
import deltasoap.bench.suite.EchoMios;
import deltasoap.bench.suite.EchoMiosResponse;
import deltasoap.bench.suite.EchoStrings;
import deltasoap.bench.suite.EchoStringsResponse;
import deltasoap.bench.suite.EchoVoid;
import deltasoap.bench.suite.EchoVoidResponse;
import deltasoap.bench.suite.Event;
import deltasoap.bench.suite.Events;
import deltasoap.bench.suite.Ints;
import deltasoap.bench.suite.Mio;
import deltasoap.bench.suite.Mios;
import deltasoap.bench.suite.Nothing;
import deltasoap.bench.suite.ReceiveBase64;
import deltasoap.bench.suite.ReceiveBase64Response;
import deltasoap.bench.suite.ReceiveDoubles;
import deltasoap.bench.suite.ReceiveDoublesResponse;
import deltasoap.bench.suite.ReceiveEvents;
import deltasoap.bench.suite.ReceiveEventsResponse;
import deltasoap.bench.suite.ReceiveInts;
import deltasoap.bench.suite.ReceiveIntsResponse;
import deltasoap.bench.suite.ReceiveMios;
import deltasoap.bench.suite.ReceiveMiosResponse;
import deltasoap.bench.suite.ReceiveStrings;
import deltasoap.bench.suite.ReceiveStringsResponse;
import deltasoap.bench.suite.SendBase64;
import deltasoap.bench.suite.SendBase64Response;
import deltasoap.bench.suite.SendDoubles;
import deltasoap.bench.suite.SendDoublesResponse;
import deltasoap.bench.suite.SendEvents;
import deltasoap.bench.suite.SendEventsResponse;
import deltasoap.bench.suite.SendInts;
import deltasoap.bench.suite.SendIntsResponse;
import deltasoap.bench.suite.SendMios;
import deltasoap.bench.suite.SendMiosResponse;
import deltasoap.bench.suite.SendStrings;
import deltasoap.bench.suite.SendStringsResponse;
import deltasoap.bench.suite.Strings;
import deltasoap.bench.suite.SuiteSkeletonInterface;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The service of suite.wsdl, with the interface that is generated from it: each message is a
 * separate bean around its content.
 */
public final class SuiteService implements SuiteSkeletonInterface {
    /** All operations. */
    static final List<String> OPERATIONS = List.of("echoVoid", "echoInts", "echoDoubles", "echoStrings", "echoMios", "echoEvents",
            "echoBase64", "sendInts", "sendDoubles", "sendStrings", "sendMios", "sendEvents", "sendBase64", "receiveInts",
            "receiveDoubles", "receiveStrings", "receiveMios", "receiveEvents", "receiveBase64");

    @Override
    public EchoVoidResponse echoVoid(EchoVoid request) {
        EchoVoidResponse response = new EchoVoidResponse();
        response.setEchoVoidResponse(new Nothing());
        return response;
    }

    @Override
    public EchoIntsResponse echoInts(EchoInts request) {
        EchoIntsResponse response = new EchoIntsResponse();
        response.setEchoIntsResponse(request.getEchoInts());
        return response;
    }

    @Override
    public EchoDoublesResponse echoDoubles(EchoDoubles request) {
        EchoDoublesResponse response = new EchoDoublesResponse();
        response.setEchoDoublesResponse(request.getEchoDoubles());
        return response;
    }

    @Override
    public EchoStringsResponse echoStrings(EchoStrings request) {
        EchoStringsResponse response = new EchoStringsResponse();
        response.setEchoStringsResponse(request.getEchoStrings());
        return response;
    }

    @Override
    public EchoMiosResponse echoMios(EchoMios request) {
        EchoMiosResponse response = new EchoMiosResponse();
        response.setEchoMiosResponse(request.getEchoMios());
        return response;
    }

    @Override
    public EchoEventsResponse echoEvents(EchoEvents request) {
        EchoEventsResponse response = new EchoEventsResponse();
        response.setEchoEventsResponse(request.getEchoEvents());
        return response;
    }

    @Override
    public EchoBase64Response echoBase64(EchoBase64 request) {
        EchoBase64Response response = new EchoBase64Response();
        response.setEchoBase64Response(request.getEchoBase64());
        return response;
    }

    @Override
    public SendIntsResponse sendInts(SendInts request) {
        int[] item = request.getSendInts().getItem();
        SendIntsResponse response = new SendIntsResponse();
        response.setSendIntsResponse(count(item == null ? 0 : item.length));
        return response;
    }

    @Override
    public SendDoublesResponse sendDoubles(SendDoubles request) {
        double[] item = request.getSendDoubles().getItem();
        SendDoublesResponse response = new SendDoublesResponse();
        response.setSendDoublesResponse(count(item == null ? 0 : item.length));
        return response;
    }

    @Override
    public SendStringsResponse sendStrings(SendStrings request) {
        SendStringsResponse response = new SendStringsResponse();
        response.setSendStringsResponse(count(size(request.getSendStrings().getItem())));
        return response;
    }

    @Override
    public SendMiosResponse sendMios(SendMios request) {
        SendMiosResponse response = new SendMiosResponse();
        response.setSendMiosResponse(count(size(request.getSendMios().getItem())));
        return response;
    }

    @Override
    public SendEventsResponse sendEvents(SendEvents request) {
        SendEventsResponse response = new SendEventsResponse();
        response.setSendEventsResponse(count(size(request.getSendEvents().getItem())));
        return response;
    }

    @Override
    public SendBase64Response sendBase64(SendBase64 request) {
        try {
            SendBase64Response response = new SendBase64Response();
            response.setSendBase64Response(count(AdbValues.octets(request.getSendBase64()).length));
            return response;
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @Override
    public ReceiveIntsResponse receiveInts(ReceiveInts request) {
        int count = request.getReceiveInts().getCount();
        Ints content = new Ints();
        content.setItem(IntStream.rangeClosed(1, count).toArray());
        ReceiveIntsResponse response = new ReceiveIntsResponse();
        response.setReceiveIntsResponse(content);
        return response;
    }

    @Override
    public ReceiveDoublesResponse receiveDoubles(ReceiveDoubles request) {
        int count = request.getReceiveDoubles().getCount();
        Doubles content = new Doubles();
        content.setItem(IntStream.rangeClosed(1, count).mapToDouble(Math::sqrt).toArray());
        ReceiveDoublesResponse response = new ReceiveDoublesResponse();
        response.setReceiveDoublesResponse(content);
        return response;
    }

    @Override
    public ReceiveStringsResponse receiveStrings(ReceiveStrings request) {
        int count = request.getReceiveStrings().getCount();
        Strings content = new Strings();
        content.setItem(items(count, SuiteService::text, String[]::new));
        ReceiveStringsResponse response = new ReceiveStringsResponse();
        response.setReceiveStringsResponse(content);
        return response;
    }

    @Override
    public ReceiveMiosResponse receiveMios(ReceiveMios request) {
        int count = request.getReceiveMios().getCount();
        Mios content = new Mios();
        content.setItem(items(count, SuiteService::mio, Mio[]::new));
        ReceiveMiosResponse response = new ReceiveMiosResponse();
        response.setReceiveMiosResponse(content);
        return response;
    }

    @Override
    public ReceiveEventsResponse receiveEvents(ReceiveEvents request) {
        int count = request.getReceiveEvents().getCount();
        Events content = new Events();
        content.setItem(items(count, SuiteService::event, Event[]::new));
        ReceiveEventsResponse response = new ReceiveEventsResponse();
        response.setReceiveEventsResponse(content);
        return response;
    }

    @Override
    public ReceiveBase64Response receiveBase64(ReceiveBase64 request) {
        byte[] octets = new byte[Math.max(0, request.getReceiveBase64().getCount())];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) i;
        }
        ReceiveBase64Response response = new ReceiveBase64Response();
        response.setReceiveBase64Response(AdbValues.base64(octets));
        return response;
    }

    private static int size(Object[] items) {
        return items == null ? 0 : items.length;
    }

    private static Count count(int number) {
        Count count = new Count();
        count.setCount(number);
        return count;
    }

    private static <T> T[] items(int count, IntFunction<T> item, IntFunction<T[]> array) {
        return IntStream.rangeClosed(1, count).mapToObj(item).toArray(array);
    }

    private static String text(int i) {
        String text = "Message #" + i;
        return text + ".".repeat(100 - text.length());
    }

    private static Mio mio(int i) {
        Mio mio = new Mio();
        mio.setX(i);
        mio.setY(i);
        mio.setV(Math.sqrt(i));
        return mio;
    }

    private static Event event(int i) {
        Event event = new Event();
        event.setId(i);
        event.setValue(Math.sqrt(i));
        event.setMessage("Message #" + i);
        return event;
    }
}
