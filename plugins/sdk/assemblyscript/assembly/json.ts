// The JSON that is needed for values beside metrics.

/** A string in quotes. */
export function quoted(text: string): string {
  let out = '"';
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c == 0x22 || c == 0x5c) out += "\\" + text.charAt(i);
    else if (c < 0x20) out += "\\u00" + (c < 0x10 ? "0" : "") + c.toString(16);
    else out += text.charAt(i);
  }
  return out + '"';
}

/** A number; NaN and the infinities, which JSON lacks, are strings. */
export function number(value: f64): string {
  if (isNaN(value)) return '"NaN"';
  if (!isFinite(value)) return value > 0 ? '"Infinity"' : '"-Infinity"';
  if (value == Math.floor(value) && Math.abs(value) < 9007199254740992) return (<i64>value).toString();
  return value.toString();
}

/** A list of elements that are JSON already. */
export function list(items: string[]): string {
  return "[" + items.join(",") + "]";
}
