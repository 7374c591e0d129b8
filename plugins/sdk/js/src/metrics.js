// Metrics, as an author writes them: numbers by name, nested at will.

/** @typedef {{[name: string]: number | bigint | Metrics}} Metrics */

/**
 * The metrics by their flat names: parts of nested ones are joined with "/".
 * @param {Metrics} metrics
 * @returns {Map<string, number>}
 */
export function flatten(metrics) {
  /** @type {Map<string, number>} */
  const flat = new Map();
  addTo(flat, "", metrics);
  return flat;
}

/**
 * @param {Map<string, number>} flat
 * @param {string} prefix
 * @param {Metrics} metrics
 */
function addTo(flat, prefix, metrics) {
  for (const [key, value] of Object.entries(metrics)) {
    const name = prefix + key;
    if (value && typeof value === "object") {
      addTo(flat, `${name}/`, value);
    } else if (typeof value !== "number" && typeof value !== "bigint") {
      throw new TypeError(`metric ${JSON.stringify(name)} is ${String(value)}, not a number`);
    } else if (flat.has(name)) {
      throw new TypeError(`metric ${JSON.stringify(name)} is there twice`);
    } else {
      flat.set(name, Number(value));
    }
  }
}
