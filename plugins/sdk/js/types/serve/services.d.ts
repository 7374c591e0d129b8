/**
 * An answer that is an error.
 * @param {number} code
 * @param {string} message
 */
export declare function failure(code: number, message: string): {
    code: number;
    details: string;
};
/**
 * A unary method; what it throws is answered with the code, and its stack logged.
 * @param {(request: any) => any} method
 * @param {number} code
 */
export declare function unary(method: (request: any) => any, code?: number): (/** @type {any} */ call: any, /** @type {Function} */ answer: Function) => Promise<void>;
/** An answer that the host has brought upon itself. */
export declare class Refusal extends Error {
    code: number;
    /** @param {number} code @param {string} message */
    constructor(code: number, message: string);
}
/** @type {() => never} */
export declare function notOpen(): never;
/**
 * @param {import("../plugin.js").SearcherPlugin} plugin
 */
export declare function searcherService(plugin: import("../plugin.js").SearcherPlugin): {
    DescribeSearcher: (call: any, answer: Function) => Promise<void>;
    OpenSearcher: (call: any, answer: Function) => Promise<void>;
    Suggest: (call: any, answer: Function) => Promise<void>;
    SnapshotSearcher: (call: any, answer: Function) => Promise<void>;
};
/**
 * @param {import("../plugin.js").SchedulerPlugin} plugin
 */
export declare function schedulerService(plugin: import("../plugin.js").SchedulerPlugin): {
    DescribeScheduler: (call: any, answer: Function) => Promise<void>;
    OpenScheduler: (call: any, answer: Function) => Promise<void>;
    Decide: (call: any, answer: Function) => Promise<void>;
    SnapshotScheduler: (call: any, answer: Function) => Promise<void>;
};
