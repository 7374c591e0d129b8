/** A searcher's answer: nothing now, ask again after something has happened. */
export declare const WAIT: unique symbol;
/** A searcher's answer: nothing ever again. */
export declare const EXHAUSTED: unique symbol;
