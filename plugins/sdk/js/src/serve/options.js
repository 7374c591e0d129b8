// A plugin's options: a JSON object, completed by the defaults of its schema.

/** @typedef {{properties?: Record<string, {type?: string | string[], default?: unknown}>, additionalProperties?: unknown}} Schema */

/** The schema of a plugin without options. */
export const none = { type: "object", additionalProperties: false };

/**
 * Reads options. The host has checked them against the whole schema; here names and
 * types are checked again, for hosts that have not.
 * @param {object | undefined} schema
 * @param {Uint8Array} bytes
 * @returns {Record<string, any>}
 */
export function readOptions(schema, bytes) {
  const { properties = {}, additionalProperties } = /** @type {Schema} */ (schema ?? none);
  const given = bytes.length === 0 ? {} : parse(bytes) ?? {};
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new Error("the options are no JSON object");
  }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(properties, name) && additionalProperties === false) {
      throw new Error(`option ${JSON.stringify(name)} is unknown; known: ${Object.keys(properties).join(", ") || "none"}`);
    }
    checkType(name, value, properties[name]?.type);
  }
  return { ...defaults(properties), ...given };
}

/** @param {Uint8Array} bytes */
function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (why) {
    throw new Error(`the options are not JSON: ${/** @type {Error} */ (why).message}`);
  }
}

/** @param {NonNullable<Schema["properties"]>} properties */
function defaults(properties) {
  const withDefault = Object.entries(properties).filter(([, p]) => p.default !== undefined);
  return Object.fromEntries(withDefault.map(([name, p]) => [name, structuredClone(p.default)]));
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {string | string[] | undefined} type
 */
function checkType(name, value, type) {
  const types = [type ?? []].flat();
  const is = typeOf(value);
  if (types.length > 0 && !types.includes(is) && !(is === "integer" && types.includes("number"))) {
    throw new Error(`option ${JSON.stringify(name)} is ${JSON.stringify(value)}; expected: ${types.join(" or ")}`);
  }
}

/** @param {unknown} value */
function typeOf(value) {
  if (value === null) {
    return "null";
  }
  if (Array.isArray(value)) {
    return "array";
  }
  return Number.isInteger(value) ? "integer" : typeof value;
}
