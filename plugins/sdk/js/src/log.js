// Writes lines of the host's log in the JSON format of hclog, so that the host knows their
// levels.

/** The host cuts lines at 64 KiB. */
const maxLine = 48 << 10;

/** The stream for log lines; the output of trials may go elsewhere. */
export const sink = { write: (/** @type {string} */ line) => process.stderr.write(line) };

/**
 * @param {string} level
 * @param {string} message
 * @param {Record<string, unknown>} [fields]
 */
function write(level, message, fields = {}) {
  const line = JSON.stringify({
    ...fields,
    "@level": level,
    "@message": String(message).slice(0, maxLine),
    "@timestamp": new Date().toISOString().replace("Z", "000Z"),
  }, (_, value) => (typeof value === "bigint" ? String(value) : value));
  sink.write(`${line}\n`);
}

/** Writes a line to the experiment's log. Fields are written after the message. */
export const log = {
  /** @param {string} message @param {Record<string, unknown>} [fields] */
  debug: (message, fields) => write("debug", message, fields),
  /** @param {string} message @param {Record<string, unknown>} [fields] */
  info: (message, fields) => write("info", message, fields),
  /** @param {string} message @param {Record<string, unknown>} [fields] */
  warn: (message, fields) => write("warn", message, fields),
  /** @param {string} message @param {Record<string, unknown>} [fields] */
  error: (message, fields) => write("error", message, fields),
};
