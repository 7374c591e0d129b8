/** The protocol's numbers of what the host orders. */
export declare const Order: {
    Start: number;
    Continue: number;
    Save: number;
    Stop: number;
    Kill: number;
};
/** The protocol's numbers of what a run says. */
export declare const Said: {
    Started: number;
    Result: number;
    Saved: number;
    Ended: number;
    Log: number;
    Rejected: number;
};
/** @param {unknown} s */
export declare function cut(s: unknown): string;
/**
 * What the author's code sees as its run, and what the host's orders do to it. With
 * reported the results so far and granted the credits, a report waits until
 * reported - granted <= runAhead; one that is due to be saved waits for all.
 */
export declare class Run {
    #private;
    trial: import("../plugin.js").Trial;
    /**
     * @param {import("../plugin.js").Trial} trial
     * @param {boolean} canSave
     * @param {(event: any) => void} say
     */
    constructor(trial: import("../plugin.js").Trial, canSave: boolean, say: (event: any) => void);
    get params(): Record<string, any>;
    get options(): Record<string, any>;
    /** @returns {AbortSignal} */
    get stopped(): AbortSignal;
    /** @returns {AbortSignal} */
    get killed(): AbortSignal;
    /** @param {string} line */
    log(line: string): void;
    /** @param {string} line */
    reject(line: string): void;
    /**
     * @param {import("../metrics.js").Metrics} metrics
     * @param {import("../plugin.js").ReportOptions} [options]
     * @returns {Promise<void>}
     */
    report(metrics: import("../metrics.js").Metrics, options?: import("../plugin.js").ReportOptions): Promise<void>;
    /**
     * Notes what the host wants and wakes the report that waits.
     * @param {any} m
     */
    order(m: any): void;
    /** The grace is over. */
    kill(): void;
    /**
     * Calls the author's code and says how it ended.
     * @param {(run: any) => unknown} train
     */
    call(train: (run: any) => unknown): Promise<{
        error?: string;
        never_started?: boolean;
        restore_failed?: boolean;
        kind: number;
    }>;
}
