/** Makes calls wait for each other. */
export declare class Turns {
    #private;
    /**
     * @template T
     * @param {() => Promise<T>} call
     * @returns {Promise<T>}
     */
    next<T>(call: () => Promise<T>): Promise<T>;
}
/**
 * Opens a searcher or scheduler, from a snapshot if that is not empty.
 * @template {import("../plugin.js").Snapshots} T
 * @param {import("../plugin.js").Info & {open: Function}} plugin
 * @param {import("../plugin.js").Problem} problem
 * @param {any} m the request
 * @returns {Promise<T>}
 */
export declare function open<T extends import("../plugin.js").Snapshots>(plugin: import("../plugin.js").Info & {
    open: Function;
}, problem: import("../plugin.js").Problem, m: any): Promise<T>;
/**
 * The state of a plugin that makes snapshots.
 * @param {import("../plugin.js").Snapshots} opened
 */
export declare function snapshot(opened: import("../plugin.js").Snapshots): Promise<{
    snapshot: Buffer<ArrayBuffer>;
}>;
/**
 * Asks a searcher, request by request, until it has no more answers.
 * @param {import("../plugin.js").Searcher} searcher
 * @param {import("../space/space.js").Space} space
 * @param {any[]} requests
 */
export declare function suggest(searcher: import("../plugin.js").Searcher, space: import("../space/space.js").Space, requests: any[]): Promise<{
    points: (symbol | {
        values: number[];
    })[];
    status: number;
}>;
