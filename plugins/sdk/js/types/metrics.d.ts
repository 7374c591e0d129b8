export type Metrics = {
    [name: string]: number | bigint | Metrics;
};
/** @typedef {{[name: string]: number | bigint | Metrics}} Metrics */
/**
 * The metrics by their flat names: parts of nested ones are joined with "/".
 * @param {Metrics} metrics
 * @returns {Map<string, number>}
 */
export declare function flatten(metrics: Metrics): Map<string, number>;
