// Detects that the host has ended, in whatever way.

import { createServer } from "node:net";

/**
 * How often the parent process is checked, in milliseconds. The connection shows it
 * sooner; this check is for a host that ended before it connected.
 */
const parentEvery = 1000;

/** The host, as seen from here: a parent process and its connections. */
export class Host {
  #parent = process.ppid;
  #open = 0;
  #called = false;
  #lost = () => {};

  /**
   * Listens on a socket and passes its connections on.
   * @param {string} path
   * @param {(socket: import("node:net").Socket) => void} take
   * @returns {Promise<void>}
   */
  listen(path, take) {
    const server = createServer((socket) => {
      this.#open++;
      socket.on("close", () => this.#closed());
      take(socket);
    });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  }

  /** The host has made a call: it is connected. */
  called() {
    this.#called = true;
  }

  /**
   * Calls lost when the parent process has changed or the last connection has ended.
   * @param {() => void} lost
   */
  watch(lost) {
    this.#lost = lost;
    setInterval(() => process.ppid !== this.#parent && lost(), parentEvery).unref();
  }

  /**
   * When the last connection ends, either the host has ended the plugin and the
   * process is about to exit, or the host has ended. Other connections do not
   * count: before the first call of the host no connection can be lost.
   */
  #closed() {
    this.#open--;
    setTimeout(() => this.#called && this.#open === 0 && this.#lost(), parentEvery).unref();
  }
}
