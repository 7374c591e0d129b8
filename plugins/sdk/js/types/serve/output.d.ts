/** The files stdout and stderr of a trial's directory. */
export declare class Output {
    #private;
    /** @param {string} dir */
    constructor(dir: string);
    /**
     * Does it with what it prints in the files.
     * @template T
     * @param {() => Promise<T>} work
     * @returns {Promise<T>}
     */
    during<T>(work: () => Promise<T>): Promise<T>;
    /**
     * Whether it could be written: after the trial's end nothing is.
     * @param {string} name
     * @param {any} chunk
     * @param {any} encoding
     */
    write(name: string, chunk: any, encoding: any): boolean;
}
/** From now on what is printed goes to the trials' files, and outside of trials to stderr, which is the log. */
export declare function divert(): void;
