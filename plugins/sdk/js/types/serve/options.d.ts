export type Schema = {
    properties?: Record<string, {
        type?: string | string[];
        default?: unknown;
    }>;
    additionalProperties?: unknown;
};
/** @typedef {{properties?: Record<string, {type?: string | string[], default?: unknown}>, additionalProperties?: unknown}} Schema */
/** The schema of a plugin that says nothing of options. */
export declare const none: {
    type: string;
    additionalProperties: boolean;
};
/**
 * Reads options. The host has checked them against the whole schema; here names and
 * types are looked at again, for hosts that have not.
 * @param {object | undefined} schema
 * @param {Uint8Array} bytes
 * @returns {Record<string, any>}
 */
export declare function readOptions(schema: object | undefined, bytes: Uint8Array): Record<string, any>;
