export type Plugin = import("../plugin.js").Plugin;
/** @typedef {import("../plugin.js").Plugin} Plugin */
/**
 * Serves until the host has ended the plugins, and exits.
 * @param {Plugin[]} plugins
 * @returns {Promise<never>}
 */
export declare function run(plugins: Plugin[]): Promise<never>;
