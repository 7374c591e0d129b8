/** A searcher's answer: nothing now; the host asks again after the next events. */
export const WAIT = Symbol("wait");

/** A searcher's answer: there will be no further suggestions. */
export const EXHAUSTED = Symbol("exhausted");
