/** A searcher's answer: nothing now, ask again after something has happened. */
export const WAIT = Symbol("wait");

/** A searcher's answer: nothing ever again. */
export const EXHAUSTED = Symbol("exhausted");
