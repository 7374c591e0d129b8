/**
 * Loads the definitions of the services, by name. 64-bit numbers are Long objects.
 * @returns {Record<string, any>}
 */
export declare function definitions(): Record<string, any>;
