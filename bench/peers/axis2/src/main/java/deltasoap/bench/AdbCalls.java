package deltasoap.bench;

import deltasoap.bench.suite.Base64;
import deltasoap.bench.suite.Count;
import deltasoap.bench.suite.Doubles;
import deltasoap.bench.suite.EchoBase64;
import deltasoap.bench.suite.EchoDoubles;
import deltasoap.bench.suite.EchoEvents;
import deltasoap.bench.suite.EchoInts;
import deltasoap.bench.suite.EchoMios;
import deltasoap.bench.suite.EchoStrings;
import deltasoap.bench.suite.EchoVoid;
import deltasoap.bench.suite.Events;
import deltasoap.bench.suite.Ints;
import deltasoap.bench.suite.Mios;
import deltasoap.bench.suite.Nothing;
import deltasoap.bench.suite.ReceiveBase64;
import deltasoap.bench.suite.ReceiveDoubles;
import deltasoap.bench.suite.ReceiveEvents;
import deltasoap.bench.suite.ReceiveInts;
import deltasoap.bench.suite.ReceiveMios;
import deltasoap.bench.suite.ReceiveStrings;
import deltasoap.bench.suite.SendBase64;
import deltasoap.bench.suite.SendDoubles;
import deltasoap.bench.suite.SendEvents;
import deltasoap.bench.suite.SendInts;
import deltasoap.bench.suite.SendMios;
import deltasoap.bench.suite.SendStrings;
import deltasoap.bench.suite.Strings;
import deltasoap.bench.suite.SuiteStub;

/** Calls of the operations of suite.wsdl by the stub that is generated from it. */
final class AdbCalls {
    private AdbCalls() {
    }

    static Toolkit.Call of(SuiteStub stub, String operation, Object content) {
        return switch (operation) {
            case "echoVoid" -> echoVoid(stub);
            case "echoInts" -> echoInts(stub, (Ints) content);
            case "echoDoubles" -> echoDoubles(stub, (Doubles) content);
            case "echoStrings" -> echoStrings(stub, (Strings) content);
            case "echoMios" -> echoMios(stub, (Mios) content);
            case "echoEvents" -> echoEvents(stub, (Events) content);
            case "echoBase64" -> echoBase64(stub, AdbValues.base64((byte[]) content));
            case "sendInts" -> sendInts(stub, (Ints) content);
            case "sendDoubles" -> sendDoubles(stub, (Doubles) content);
            case "sendStrings" -> sendStrings(stub, (Strings) content);
            case "sendMios" -> sendMios(stub, (Mios) content);
            case "sendEvents" -> sendEvents(stub, (Events) content);
            case "sendBase64" -> sendBase64(stub, AdbValues.base64((byte[]) content));
            case "receiveInts" -> receiveInts(stub, (int) content);
            case "receiveDoubles" -> receiveDoubles(stub, (int) content);
            case "receiveStrings" -> receiveStrings(stub, (int) content);
            case "receiveMios" -> receiveMios(stub, (int) content);
            case "receiveEvents" -> receiveEvents(stub, (int) content);
            case "receiveBase64" -> receiveBase64(stub, (int) content);
            default -> throw new IllegalArgumentException("unknown operation " + operation);
        };
    }

    private static Toolkit.Call echoVoid(SuiteStub stub) {
        EchoVoid request = new EchoVoid();
        request.setEchoVoid(new Nothing());
        return () -> {
            stub.echoVoid(request);
            return null;
        };
    }

    private static Toolkit.Call echoInts(SuiteStub stub, Ints content) {
        EchoInts request = new EchoInts();
        request.setEchoInts(content);
        return () -> stub.echoInts(request).getEchoIntsResponse();
    }

    private static Toolkit.Call echoDoubles(SuiteStub stub, Doubles content) {
        EchoDoubles request = new EchoDoubles();
        request.setEchoDoubles(content);
        return () -> stub.echoDoubles(request).getEchoDoublesResponse();
    }

    private static Toolkit.Call echoStrings(SuiteStub stub, Strings content) {
        EchoStrings request = new EchoStrings();
        request.setEchoStrings(content);
        return () -> stub.echoStrings(request).getEchoStringsResponse();
    }

    private static Toolkit.Call echoMios(SuiteStub stub, Mios content) {
        EchoMios request = new EchoMios();
        request.setEchoMios(content);
        return () -> stub.echoMios(request).getEchoMiosResponse();
    }

    private static Toolkit.Call echoEvents(SuiteStub stub, Events content) {
        EchoEvents request = new EchoEvents();
        request.setEchoEvents(content);
        return () -> stub.echoEvents(request).getEchoEventsResponse();
    }

    private static Toolkit.Call echoBase64(SuiteStub stub, Base64 content) {
        EchoBase64 request = new EchoBase64();
        request.setEchoBase64(content);
        return () -> AdbValues.octets(stub.echoBase64(request).getEchoBase64Response());
    }

    private static Toolkit.Call sendInts(SuiteStub stub, Ints content) {
        SendInts request = new SendInts();
        request.setSendInts(content);
        return () -> stub.sendInts(request).getSendIntsResponse().getCount();
    }

    private static Toolkit.Call sendDoubles(SuiteStub stub, Doubles content) {
        SendDoubles request = new SendDoubles();
        request.setSendDoubles(content);
        return () -> stub.sendDoubles(request).getSendDoublesResponse().getCount();
    }

    private static Toolkit.Call sendStrings(SuiteStub stub, Strings content) {
        SendStrings request = new SendStrings();
        request.setSendStrings(content);
        return () -> stub.sendStrings(request).getSendStringsResponse().getCount();
    }

    private static Toolkit.Call sendMios(SuiteStub stub, Mios content) {
        SendMios request = new SendMios();
        request.setSendMios(content);
        return () -> stub.sendMios(request).getSendMiosResponse().getCount();
    }

    private static Toolkit.Call sendEvents(SuiteStub stub, Events content) {
        SendEvents request = new SendEvents();
        request.setSendEvents(content);
        return () -> stub.sendEvents(request).getSendEventsResponse().getCount();
    }

    private static Toolkit.Call sendBase64(SuiteStub stub, Base64 content) {
        SendBase64 request = new SendBase64();
        request.setSendBase64(content);
        return () -> stub.sendBase64(request).getSendBase64Response().getCount();
    }

    private static Toolkit.Call receiveInts(SuiteStub stub, int number) {
        ReceiveInts request = new ReceiveInts();
        request.setReceiveInts(count(number));
        return () -> stub.receiveInts(request).getReceiveIntsResponse();
    }

    private static Toolkit.Call receiveDoubles(SuiteStub stub, int number) {
        ReceiveDoubles request = new ReceiveDoubles();
        request.setReceiveDoubles(count(number));
        return () -> stub.receiveDoubles(request).getReceiveDoublesResponse();
    }

    private static Toolkit.Call receiveStrings(SuiteStub stub, int number) {
        ReceiveStrings request = new ReceiveStrings();
        request.setReceiveStrings(count(number));
        return () -> stub.receiveStrings(request).getReceiveStringsResponse();
    }

    private static Toolkit.Call receiveMios(SuiteStub stub, int number) {
        ReceiveMios request = new ReceiveMios();
        request.setReceiveMios(count(number));
        return () -> stub.receiveMios(request).getReceiveMiosResponse();
    }

    private static Toolkit.Call receiveEvents(SuiteStub stub, int number) {
        ReceiveEvents request = new ReceiveEvents();
        request.setReceiveEvents(count(number));
        return () -> stub.receiveEvents(request).getReceiveEventsResponse();
    }

    private static Toolkit.Call receiveBase64(SuiteStub stub, int number) {
        ReceiveBase64 request = new ReceiveBase64();
        request.setReceiveBase64(count(number));
        return () -> AdbValues.octets(stub.receiveBase64(request).getReceiveBase64Response());
    }

    private static Count count(int number) {
        Count count = new Count();
        count.setCount(number);
        return count;
    }
}
