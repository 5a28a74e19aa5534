package deltasoap.bench;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Doubles as the octets of IEEE 754, little-endian. */
final class Bits {
    private Bits() {
    }

    static double[] doubles(byte[] octets) {
        if (octets.length % Double.BYTES != 0) {
            throw new IllegalArgumentException("these are no doubles");
        }
        double[] doubles = new double[octets.length / Double.BYTES];
        ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(doubles);
        return doubles;
    }

    static byte[] octets(double[] doubles) {
        byte[] octets = new byte[doubles.length * Double.BYTES];
        ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().put(doubles);
        return octets;
    }
}
