package deltasoap.interop;

import java.util.function.UnaryOperator;

/** A port of secured/bank.wsdl on our server, called by a toolkit, and what happens to its messages on the way. */
interface SecuredPort {
    String TRANSFER = "<transfer xmlns='urn:bank'><to>Bob &amp; Eve</to><amount>%s</amount></transfer>";

    /** Sends {@link #TRANSFER}; returns the element in the response. */
    String transfer(String amount) throws Exception;

    /** Calls the service below another path. */
    SecuredPort at(String folder);

    SecuredPort sending(UnaryOperator<String> change);

    SecuredPort receiving(UnaryOperator<String> change);

    /** Returns the last request, as it was sent. */
    String sent();

    /** Returns the last response, as it was received. */
    String received();

    /** Returns the HTTP status of the last response. */
    int status();

    /** Returns a message with something else in the body, or with other ciphertext. */
    static String changed(String message) {
        if (message.contains(">250<")) {
            return message.replace(">250<", ">950<");
        }
        return with(message, message.lastIndexOf("</xenc:CipherValue>"));
    }

    /** Returns a message with another digest of a password. */
    static String guessed(String message) {
        return with(message, message.indexOf("</wsse:Password>"));
    }

    /** Returns a message without the security header. */
    static String bare(String message) {
        return message.replaceFirst("(?s)<(\\w*:)?Security .*</(\\w*:)?Security>", "");
    }

    /** Returns a message with another letter of the base64 that ends somewhere. */
    private static String with(String message, int end) {
        int at = end - 10;
        return message.substring(0, at) + (message.charAt(at) == 'A' ? 'B' : 'A') + message.substring(at + 1);
    }
}
