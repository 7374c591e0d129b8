/** A searcher's answer: nothing now; the host asks again after the next events. */
export declare const WAIT: unique symbol;
/** A searcher's answer: there will be no further suggestions. */
export declare const EXHAUSTED: unique symbol;
