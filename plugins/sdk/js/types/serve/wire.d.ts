import { Space } from "../space/space.js";
export type Event = import("../plugin.js").Event;
export type Decision = import("../plugin.js").Decision;
export type Command = import("../plugin.js").Command;
export type Trial = import("../plugin.js").Trial;
/**
 * All 64 bits of an unsigned number.
 * @param {{low: number, high: number}} long
 */
export declare function big(long: {
    low: number;
    high: number;
}): bigint;
/**
 * An unsigned number that is never larger than 2^53 where it is a count.
 * @param {{low: number, high: number}} long
 */
export declare function count(long: {
    low: number;
    high: number;
}): number;
/**
 * A text that protobuf can carry.
 * @param {unknown} s
 */
export declare function text(s: unknown): string;
/**
 * @param {import("../plugin.js").Info} info
 * @param {string} kind
 */
export declare function info({ name, version, summary, options }: import("../plugin.js").Info, kind: string): {
    kind: string;
    name: string;
    version: string;
    summary: string;
    options_schema: Buffer<ArrayBuffer>;
};
/**
 * @param {import("../plugin.js").Traits | undefined} traits
 * @param {boolean} snapshots
 */
export declare function traits({ independent, quiet, runAhead, metrics, saves, requires }: import("../plugin.js").Traits | undefined, snapshots: boolean): {
    independent: boolean;
    quiet: boolean;
    run_ahead: number;
    metrics: boolean;
    saves: boolean;
    requires: string[];
    snapshots: boolean;
};
/**
 * Throws when the problem is one that this package does not know.
 * @param {any} m
 * @returns {import("../plugin.js").Problem}
 */
export declare function problem(m: any): import("../plugin.js").Problem;
/**
 * @param {any} m
 * @returns {Event}
 */
export declare function event(m: any): Event;
/**
 * @param {any} m
 * @returns {import("../plugin.js").Request}
 */
export declare function request(m: any): import("../plugin.js").Request;
/**
 * A searcher's answer, checked, with the coordinates that are given laid over it;
 * a symbol for WAIT and EXHAUSTED.
 * @param {Space} space
 * @param {any} answer
 * @param {import("../plugin.js").Request} request
 */
export declare function suggestion(space: Space, answer: any, { trial, given }: import("../plugin.js").Request): symbol | {
    values: number[];
};
/**
 * A scheduler's answer, checked against the events that it was told.
 * @param {Space} space
 * @param {Event[]} events
 * @param {import("../plugin.js").Answer} answer
 */
export declare function decisions(space: Space, events: Event[], answer: import("../plugin.js").Answer): {
    decisions: {
        event: string;
        verdict: number;
        until: string;
        reason: string;
    }[];
    commands: {
        kind: number;
        trial: number;
        donor: number;
        iteration: string;
        point: {
            values: number[];
        } | null;
        resources: Buffer<ArrayBuffer>;
        reason: string;
    }[];
};
/**
 * @param {any} m
 * @returns {Trial}
 */
export declare function trial(m: any): Trial;
