/** Runs of one host, one after the other or at a time, as the trainable allows. */
export declare class Session {
    #private;
    /**
     * @param {import("../plugin.js").Trainable} trainable
     * @param {(event: any) => void} emit
     */
    constructor(trainable: import("../plugin.js").Trainable, emit: (event: any) => void);
    /**
     * Carries out an order without waiting for its effect. Throws when the host breaks
     * the protocol.
     * @param {any} m
     */
    order(m: any): void;
    /** Ends every run; what they still say is dropped. */
    close(): void;
    /** Returns when no author's code runs any more. */
    wait(): Promise<void>;
}
/**
 * @param {import("../plugin.js").TrainablePlugin} plugin
 */
export declare function trainableService(plugin: import("../plugin.js").TrainablePlugin): {
    methods: {
        DescribeTrainable: (call: any, answer: Function) => Promise<void>;
        OpenTrainable: (call: any, answer: Function) => Promise<void>;
        RequestResources: (call: any, answer: Function) => Promise<void>;
        Train: (/** @type {any} */ stream: any) => void;
    };
    end: () => Promise<void>;
};
