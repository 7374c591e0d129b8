export type Metrics = {
    [name: string]: any;
};
export type Reported = {
    metrics: Map<string, number>;
    /**
     * values that are not numbers, converted for JSON
     */
    values: Record<string, any>;
    /**
     * the report says that it is the last result
     */
    done: boolean;
    /**
     * the iteration in the report; 0: none
     */
    iteration: number;
    /**
     * names of values that were left out because of their size
     */
    leftOut: string[];
};
/**
 * The reported values by flattened names: parts of nested names are joined with "/".
 * @param {Metrics} metrics
 * @returns {Reported}
 */
export declare function flatten(metrics: Metrics): Reported;
/**
 * The warning about values that were left out because of their size.
 * @param {string[]} names
 */
export declare function leftOut(names: string[]): string;
