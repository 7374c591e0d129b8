/** The host, as seen from here: a parent process and its connections. */
export declare class Host {
    #private;
    /**
     * Listens on a socket and hands on its connections.
     * @param {string} path
     * @param {(socket: import("node:net").Socket) => void} take
     * @returns {Promise<void>}
     */
    listen(path: string, take: (socket: import("node:net").Socket) => void): Promise<void>;
    /** The host has called: it is connected. */
    called(): void;
    /**
     * Calls lost when the parent process has changed or the last connection has ended.
     * @param {() => void} lost
     */
    watch(lost: () => void): void;
}
