// 64-bit FNV-1a over decoded values, as ../PROTOCOL.md defines it. The state is kept in two halves,
// since JavaScript's numbers are doubles, and its big integers are slow.

const scratch = new DataView(new ArrayBuffer(8));

export class Checksum {
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  octet(octet) {
    // Multiplies by 0x100000001b3: the low half by 0x1b3, plus the shifted halves.
    const low = (this.#low ^ octet) >>> 0;
    const product = low * 0x1b3;
    this.#high = (Math.imul(this.#high, 0x1b3) + Math.floor(product / 0x100000000) + low * 0x100) >>> 0;
    this.#low = product >>> 0;
  }

  octets(octets) {
    for (const octet of octets) this.octet(octet);
  }

  int(value) {
    scratch.setInt32(0, value, true);
    for (let i = 0; i < 4; i++) this.octet(scratch.getUint8(i));
  }

  double(value) {
    scratch.setFloat64(0, value, true);
    for (let i = 0; i < 8; i++) this.octet(scratch.getUint8(i));
  }

  string(value) {
    const octets = Buffer.from(value);
    this.int(octets.length);
    this.octets(octets);
  }

  hex() {
    return [this.#high, this.#low].map((half) => half.toString(16).padStart(8, "0")).join("");
  }
}
