// Reported results: numbers, possibly nested, are metrics; everything else is kept as
// values.

/** @typedef {{[name: string]: any}} Metrics numbers; texts, truths and lists are kept beside them */

/**
 * One report, with flattened names.
 * @typedef {object} Reported
 * @property {Map<string, number>} metrics
 * @property {Record<string, any>} values values that are not numbers, converted for JSON
 * @property {boolean} done the report says that it is the last result
 * @property {number} iteration the iteration in the report; 0: none
 * @property {string[]} leftOut names of values that were left out because of their size
 */

/** The maximum total size of values, in bytes. */
const maxValues = 64 << 10;

/**
 * The reported values by flattened names: parts of nested names are joined with "/".
 * @param {Metrics} metrics
 * @returns {Reported}
 */
export function flatten(metrics) {
  /** @type {Reported} */
  const flat = { metrics: new Map(), values: {}, done: false, iteration: 0, leftOut: [] };
  let room = maxValues - 2;
  for (const [name, value] of leaves("", metrics)) {
    if (flat.metrics.has(name) || Object.hasOwn(flat.values, name)) {
      throw new TypeError(`metric ${JSON.stringify(name)} is given twice`);
    }
    if (typeof value === "number" || typeof value === "bigint") {
      addNumber(flat, name, Number(value));
    } else {
      room -= addValue(flat, name, value, room);
    }
  }
  if (flat.metrics.size === 0) {
    const [name] = Object.keys(flat.values);
    const says = name === undefined ? "" : `; ${name} is ${JSON.stringify(flat.values[name]).slice(0, 60)}, which is not a number`;
    throw new TypeError(`no metrics: write report({accuracy: 0.9})${says}`);
  }
  return flat;
}

/**
 * @param {Reported} flat
 * @param {string} name
 * @param {number} value
 */
function addNumber(flat, name, value) {
  if ((name === "iteration" || name === "training_iteration") && Number.isSafeInteger(value) && value > 0) {
    flat.iteration = value;
    if (name === "iteration") {
      return;
    }
  }
  flat.metrics.set(name, value);
}

/**
 * Returns the size of the value.
 * @param {Reported} flat
 * @param {string} name
 * @param {unknown} value
 * @param {number} room
 */
function addValue(flat, name, value, room) {
  if (name === "done" && typeof value === "boolean") {
    flat.done = value;
    return 0;
  }
  const text = jsonOf(value);
  const size = Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(text) + 2;
  if (size > room) {
    flat.leftOut.push(name);
    return 0;
  }
  flat.values[name] = JSON.parse(text);
  return size;
}

/**
 * Converts a value that JSON cannot represent to its text.
 * @param {unknown} value
 * @returns {string}
 */
function jsonOf(value) {
  try {
    return JSON.stringify(ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : value, plain) ?? JSON.stringify(String(value));
  } catch { // it contains itself
    return JSON.stringify(String(value));
  }
}

/** @param {string} _ @param {unknown} value */
function plain(_, value) {
  return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? String(value) : value;
}

/**
 * @param {string} prefix
 * @param {Metrics} metrics
 * @returns {Generator<[string, unknown]>}
 */
function* leaves(prefix, metrics) {
  for (const [key, value] of Object.entries(metrics)) {
    if (isGroup(value)) {
      yield* leaves(`${prefix}${key}/`, value);
    } else {
      yield [prefix + key, value];
    }
  }
}

/**
 * Whether a value is an object of nested metrics, not a list, a date or similar.
 * @param {any} value
 */
function isGroup(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !ArrayBuffer.isView(value) && typeof value.toJSON !== "function";
}

/**
 * The warning about values that were left out because of their size.
 * @param {string[]} names
 */
export function leftOut(names) {
  return `${names.slice(0, 8).join(", ")}: left out, because values that are not metrics may have ${maxValues >> 10} KiB in total`;
}
