package deltasoap.interop;

import com.sun.xml.wss.impl.callback.PasswordValidationCallback.DigestPasswordRequest;
import com.sun.xml.wss.impl.callback.PasswordValidationCallback.Request;
import com.sun.xml.wss.impl.callback.PasswordValidationCallback.WsitDigestPasswordValidator;

/** Tells the server the password of the user, for comparison with a digest. */
public final class Passwords extends WsitDigestPasswordValidator {
    @Override
    public void setPassword(Request request) {
        DigestPasswordRequest digest = (DigestPasswordRequest) request;
        digest.setPassword(SecuredTests.USER.equals(digest.getUsername()) ? SecuredTests.PASSWORD : null);
    }
}
