// The part of Protocol Buffers that the protocol needs.

// Wire types.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/** Reads the fields of one message in memory: `while (r.next())` and, by `r.field`, a value of each. */
export class Reader {
  /** The number of the field whose value comes. */
  field: u32 = 0;
  private wire: u32 = 0;

  constructor(private at: usize, private end: usize) {}

  /** Goes to the next field; false at the end. */
  next(): bool {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    this.field = <u32>(tag >> 3);
    this.wire = <u32>(tag & 7);
    return true;
  }

  /** A whole number. */
  uint(): u64 {
    if (this.wire == FIXED64) return this.fixed64();
    this.expect(VARINT);
    return this.varint();
  }

  bool(): bool {
    return this.uint() != 0;
  }

  double(): f64 {
    this.expect(FIXED64);
    return reinterpret<f64>(this.fixed64());
  }

  string(): string {
    const m = this.message();
    return String.UTF8.decodeUnsafe(m.at, m.end - m.at);
  }

  bytes(): Uint8Array {
    const m = this.message();
    const out = new Uint8Array(<i32>(m.end - m.at));
    memory.copy(out.dataStart, m.at, m.end - m.at);
    return out;
  }

  /** A message inside this one. */
  message(): Reader {
    this.expect(BYTES);
    const size = <usize>this.varint();
    assert(size <= this.end - this.at, "a message ends early");
    const m = new Reader(this.at, this.at + size);
    this.at += size;
    return m;
  }

  /** Adds a number of a repeated field. */
  doubles(to: f64[]): void {
    if (this.wire == FIXED64) {
      to.push(this.double());
      return;
    }
    const packed = this.message();
    while (packed.at < packed.end) to.push(reinterpret<f64>(packed.fixed64()));
  }

  /** As doubles, for whole numbers. */
  uints(to: u32[]): void {
    if (this.wire == VARINT) {
      to.push(<u32>this.varint());
      return;
    }
    const packed = this.message();
    while (packed.at < packed.end) to.push(<u32>packed.varint());
  }

  /** Skips an unknown field. */
  skip(): void {
    if (this.wire == VARINT) this.varint();
    else if (this.wire == FIXED64) this.fixed64();
    else if (this.wire == BYTES) this.message();
    else if (this.wire == FIXED32) this.at += 4;
    else assert(false, "a field of an unknown type");
  }

  private varint(): u64 {
    let value: u64 = 0;
    for (let shift: u64 = 0; shift < 70; shift += 7) {
      assert(this.at < this.end, "a message ends early");
      const b = load<u8>(this.at++);
      value |= (<u64>(b & 0x7f)) << shift;
      if (b < 0x80) return value;
    }
    assert(false, "a number is too long");
    return 0;
  }

  private fixed64(): u64 {
    assert(this.end - this.at >= 8, "a message ends early");
    const value = load<u64>(this.at);
    this.at += 8;
    return value;
  }

  private expect(wire: u32): void {
    assert(this.wire == wire, "a field of another type than expected");
  }
}

/** Writes one message. Zero, false and empty values are omitted, as in proto3. */
export class Writer {
  private buffer: StaticArray<u8> = new StaticArray<u8>(128);
  /** How many bytes there are. */
  length: i32 = 0;

  /** Where the bytes are, until the next is written. */
  get start(): usize {
    return changetype<usize>(this.buffer);
  }

  byte(b: u8): void {
    this.reserve(1);
    unchecked((this.buffer[this.length++] = b));
  }

  uint(field: u32, value: u64): void {
    if (value == 0) return;
    this.tag(field, VARINT);
    this.varint(value);
  }

  bool(field: u32, value: bool): void {
    this.uint(field, value ? 1 : 0);
  }

  double(field: u32, value: f64): void {
    if (reinterpret<u64>(value) == 0) return;
    this.tag(field, FIXED64);
    this.fixed64(value);
  }

  string(field: u32, value: string): void {
    if (value.length == 0) return;
    const text = String.UTF8.encode(value);
    this.raw(field, changetype<usize>(text), text.byteLength);
  }

  bytes(field: u32, value: Uint8Array): void {
    if (value.length > 0) this.raw(field, value.dataStart, value.length);
  }

  /** A message, which may be empty. */
  message(field: u32, m: Writer): void {
    this.raw(field, m.start, m.length);
  }

  doubles(field: u32, values: f64[]): void {
    if (values.length == 0) return;
    this.tag(field, BYTES);
    this.varint(8 * values.length);
    for (let i = 0; i < values.length; i++) this.fixed64(unchecked(values[i]));
  }

  /** Text without a field, for answers that are errors. */
  text(value: string): void {
    const text = String.UTF8.encode(value);
    this.copy(changetype<usize>(text), text.byteLength);
  }

  private raw(field: u32, from: usize, size: i32): void {
    this.tag(field, BYTES);
    this.varint(size);
    this.copy(from, size);
  }

  private tag(field: u32, wire: u32): void {
    this.varint((<u64>field << 3) | wire);
  }

  private varint(value: u64): void {
    while (value >= 0x80) {
      this.byte(<u8>(value | 0x80));
      value >>= 7;
    }
    this.byte(<u8>value);
  }

  private fixed64(value: f64): void {
    this.reserve(8);
    store<f64>(this.start + this.length, value);
    this.length += 8;
  }

  private copy(from: usize, size: i32): void {
    this.reserve(size);
    memory.copy(this.start + this.length, from, size);
    this.length += size;
  }

  private reserve(size: i32): void {
    const need = this.length + size;
    if (need <= this.buffer.length) return;
    const larger = new StaticArray<u8>(max(need, 2 * this.buffer.length));
    memory.copy(changetype<usize>(larger), this.start, this.length);
    this.buffer = larger;
  }
}
