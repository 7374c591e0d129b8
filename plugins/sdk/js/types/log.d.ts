/** The stream for log lines; the output of trials may go elsewhere. */
export declare const sink: {
    write: (/** @type {string} */ line: string) => boolean;
};
/** Writes a line to the experiment's log. Fields are written after the message. */
export declare const log: {
    /** @param {string} message @param {Record<string, unknown>} [fields] */
    debug: (message: string, fields?: Record<string, unknown>) => void;
    /** @param {string} message @param {Record<string, unknown>} [fields] */
    info: (message: string, fields?: Record<string, unknown>) => void;
    /** @param {string} message @param {Record<string, unknown>} [fields] */
    warn: (message: string, fields?: Record<string, unknown>) => void;
    /** @param {string} message @param {Record<string, unknown>} [fields] */
    error: (message: string, fields?: Record<string, unknown>) => void;
};
