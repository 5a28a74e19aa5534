package deltasoap.interop;

import java.util.function.UnaryOperator;

/** Messages as they are sent and received, and how they are changed on the way. */
class Traffic {
    /** The last request, as it was sent. */
    String request = "";
    /** The last response, as it was received. */
    String response = "";
    /** Its HTTP status. */
    int status;
    UnaryOperator<String> requests = text -> text;
    UnaryOperator<String> responses = text -> text;
}
