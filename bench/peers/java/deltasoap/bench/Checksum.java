package deltasoap.bench;

import java.nio.charset.StandardCharsets;

/** FNV-1a (64 bits) over values, as PROTOCOL.md defines it. */
final class Checksum {
    private long state = 0xcbf29ce484222325L;

    void add(int value) {
        integer(value & 0xffffffffL, 4);
    }

    void add(double value) {
        integer(Double.doubleToRawLongBits(value), 8);
    }

    /** A missing string counts as an empty one. */
    void add(String value) {
        byte[] octets = value == null ? new byte[0] : value.getBytes(StandardCharsets.UTF_8);
        add(octets.length);
        add(octets);
    }

    void add(byte[] octets) {
        for (byte octet : octets) {
            octet(octet);
        }
    }

    String hex() {
        return String.format("%016x", state);
    }

    private void integer(long value, int width) {
        for (int i = 0; i < width; i++) {
            octet((int) (value >>> (8 * i)));
        }
    }

    private void octet(int octet) {
        state = (state ^ (octet & 0xff)) * 0x100000001b3L;
    }
}
