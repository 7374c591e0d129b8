export type Metrics = {
    [name: string]: any;
};
export type Reported = {
    metrics: Map<string, number>;
    /**
     * what is no number, fit for JSON
     */
    values: Record<string, any>;
    /**
     * it says so of itself
     */
    done: boolean;
    /**
     * likewise; 0: it does not
     */
    iteration: number;
    /**
     * names of values for which there is no room
     */
    leftOut: string[];
};
/**
 * What is reported by flat names: parts of nested ones are joined with "/".
 * @param {Metrics} metrics
 * @returns {Reported}
 */
export declare function flatten(metrics: Metrics): Reported;
/**
 * What the author is told of values for which there is no room.
 * @param {string[]} names
 */
export declare function leftOut(names: string[]): string;
