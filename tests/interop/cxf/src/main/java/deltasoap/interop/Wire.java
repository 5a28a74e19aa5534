package deltasoap.interop;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.io.CachedOutputStream;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;

/** Interceptors of a client, which keep messages, and change them on the way. */
final class Wire extends Traffic {
    /** Changes what the client sends. */
    final class Out extends AbstractPhaseInterceptor<Message> {
        Out() {
            super(Phase.PRE_STREAM);
        }

        @Override
        public void handleMessage(Message message) throws Fault {
            OutputStream connection = message.getContent(OutputStream.class);
            message.setContent(OutputStream.class, new CachedOutputStream() {
                @Override
                protected void doClose() throws IOException {
                    request = requests.apply(new String(getBytes(), StandardCharsets.UTF_8));
                    connection.write(request.getBytes(StandardCharsets.UTF_8));
                    connection.close();
                }
            });
        }
    }

    /** Changes what the client receives. */
    final class In extends AbstractPhaseInterceptor<Message> {
        In() {
            super(Phase.RECEIVE);
        }

        @Override
        public void handleMessage(Message message) throws Fault {
            InputStream connection = message.getContent(InputStream.class);
            status = (Integer) message.get(Message.RESPONSE_CODE);
            if (connection == null) {
                return;
            }
            try {
                response = new String(connection.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException error) {
                throw new Fault(error);
            }
            byte[] changed = responses.apply(response).getBytes(StandardCharsets.UTF_8);
            message.setContent(InputStream.class, new ByteArrayInputStream(changed));
        }
    }
}
