// JSON objects of options and parameters.

/** The numbers, strings and booleans of a JSON object; nested names are joined with "/". */
export class Values {
  private numbers: Map<string, f64> = new Map<string, f64>();
  private texts: Map<string, string> = new Map<string, string>();
  private asked: Set<string> = new Set<string>();
  /** The error in the object or in a value that was read; "" if there is none. */
  error: string = "";

  constructor(
    json: string,
    /** The word for a value in messages. */
    private noun: string = "option",
  ) {
    if (json.length > 0) new JSONReader(json, this).read();
  }

  /** A number, or the default if there is none. */
  number(name: string, otherwise: f64): f64 {
    this.asked.add(name);
    if (this.texts.has(name)) this.refuse(this.noun + ' "' + name + '" is no number');
    return this.numbers.has(name) ? this.numbers.get(name) : otherwise;
  }

  /** An integer. */
  integer(name: string, otherwise: i32): i32 {
    const x = this.number(name, <f64>otherwise);
    if (x != Math.trunc(x) || Math.abs(x) > 2147483647) this.refuse(this.noun + ' "' + name + '" is ' + x.toString() + "; expected: integer");
    return <i32>x;
  }

  /** A string. */
  text(name: string, otherwise: string): string {
    this.asked.add(name);
    if (this.numbers.has(name)) this.refuse(this.noun + ' "' + name + '" is no text');
    return this.texts.has(name) ? this.texts.get(name) : otherwise;
  }

  /** True or false. */
  flag(name: string, otherwise: bool): bool {
    return this.number(name, otherwise ? 1 : 0) != 0;
  }

  /** Records an error; the first one is kept. */
  refuse(why: string): void {
    if (this.error.length == 0) this.error = why;
  }

  /** Records that the object cannot be read. */
  malformed(why: string): void {
    this.refuse(this.noun + "s: " + why);
  }

  /** Refuses names that were not read. */
  close(): void {
    const numbers = this.numbers.keys();
    for (let i = 0; i < numbers.length; i++) this.known(numbers[i]);
    const texts = this.texts.keys();
    for (let i = 0; i < texts.length; i++) this.known(texts[i]);
  }

  private known(name: string): void {
    if (!this.asked.has(name)) this.refuse(this.noun + ' "' + name + '" is unknown');
  }

  /** For the reader. */
  setNumber(name: string, x: f64): void {
    this.numbers.set(name, x);
  }

  /** For the reader. */
  setText(name: string, text: string): void {
    this.texts.set(name, text);
  }
}

const MAX_DEPTH: i32 = 64;

/** Reads one object. Elements of arrays are named by their index. */
class JSONReader {
  private at: i32 = 0;

  constructor(private json: string, private to: Values) {}

  read(): void {
    this.space();
    if (this.peek() != 0x7b) this.to.malformed("not a JSON object");
    else this.value("", 0);
    this.space();
    if (this.to.error.length == 0 && this.at < this.json.length) this.to.malformed("there is something after the JSON object");
  }

  private value(name: string, depth: i32): void {
    this.space();
    const c = this.peek();
    if (depth > MAX_DEPTH) this.to.malformed("nested deeper than 64");
    else if (c == 0x7b) this.members(name, depth, 0x7d); // {
    else if (c == 0x5b) this.members(name, depth, 0x5d); // [
    else if (c == 0x22) this.to.setText(name, this.string());
    else this.scalar(name);
  }

  /** The members of an object, or the elements of an array. */
  private members(group: string, depth: i32, end: i32): void {
    const prefix = group.length > 0 ? group + "/" : "";
    this.at++;
    this.space();
    if (this.peek() == end) {
      this.at++;
      return;
    }
    for (let i = 0; this.to.error.length == 0; i++) {
      let key = i.toString();
      this.space();
      if (end == 0x7d) {
        key = this.string();
        this.space();
        this.expect(0x3a); // :
      }
      this.value(prefix + key, depth + 1);
      this.space();
      if (this.peek() != 0x2c) break; // ,
      this.at++;
    }
    this.expect(end);
  }

  private scalar(name: string): void {
    const from = this.at;
    while (this.at < this.json.length && isWord(this.peek())) this.at++;
    const word = this.json.substring(from, this.at);
    if (word == "null") return;
    const x = word == "true" ? 1 : word == "false" ? 0 : parseFloat(word);
    if (isNaN(x)) this.to.malformed("not JSON at character " + from.toString());
    this.to.setNumber(name, x);
  }

  private string(): string {
    this.expect(0x22);
    const parts: string[] = []; // joined at the end: text of megabytes would be copied for each character
    let from = this.at;
    while (this.at < this.json.length && this.peek() != 0x22) {
      if (this.peek() != 0x5c) {
        this.at++;
        continue;
      }
      parts.push(this.json.substring(from, this.at++));
      parts.push(this.escape());
      from = this.at;
    }
    parts.push(this.json.substring(from, this.at));
    this.expect(0x22);
    return parts.join("");
  }

  private escape(): string {
    const c = this.peek();
    this.at++;
    switch (c) {
      case 0x62: return "\b";
      case 0x66: return "\f";
      case 0x6e: return "\n";
      case 0x72: return "\r";
      case 0x74: return "\t";
      case 0x75:
        this.at += 4;
        return String.fromCharCode(<i32>parseInt(this.json.substring(this.at - 4, this.at), 16));
    }
    return String.fromCharCode(c);
  }

  private space(): void {
    while (this.at < this.json.length && this.peek() <= 0x20) this.at++;
  }

  /** The next character; 0 at the end. */
  private peek(): i32 {
    return this.at < this.json.length ? this.json.charCodeAt(this.at) : 0;
  }

  private expect(c: i32): void {
    if (this.peek() == c) this.at++;
    else this.to.malformed("not JSON at character " + this.at.toString());
  }
}

/** Letters, digits and the other characters of numbers. */
function isWord(c: i32): bool {
  return (c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x7a) || c == 0x2b || c == 0x2d || c == 0x2e || c == 0x45;
}
