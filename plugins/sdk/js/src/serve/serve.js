// The plugin's side of the protocol; plugins/sdk/PROTOCOL.md describes it.

import { writeSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../errors.js";
import { Host } from "./host.js";
import { divert } from "./output.js";
import { grpc } from "./packages.js";
import { service } from "./proto.js";
import { schedulerService, searcherService } from "./services.js";
import { hostAuthority, newIdentity } from "./tls.js";
import { trainableService } from "./trainable.js";

/** Lets a plugin detect that a person started it; it is not a secret. */
const cookie = "d2f0a5be-3a0f-4a55-8f63-2b8a4f2c9d17";
const protocol = 1;
/** A snapshot of 16 MiB and its frame. */
const maxReceive = 17 << 20;
/** How long training code may take to return after the host has ended, in milliseconds. */
const endGrace = 5000;

/** @typedef {import("../plugin.js").Plugin} Plugin */

/**
 * Serves until the host ends the plugins, and exits.
 * @param {Plugin[]} plugins
 * @returns {Promise<never>}
 */
export async function run(plugins) {
  try {
    checkStart(plugins);
    await start(plugins);
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\n`, () => process.exit(1));
  }
  return new Promise(() => {});
}

/**
 * Throws when the program should not serve.
 * @param {Plugin[]} plugins
 */
function checkStart(plugins) {
  if (plugins.length === 0) {
    throw new Error("this program serves no plugin: give serve at least one");
  }
  if (new Set(plugins.map((p) => p.kind)).size < plugins.length) {
    throw new Error("this program serves two plugins of one kind: give each a program of its own");
  }
  if (process.env.TUNEHOST_PLUGIN !== cookie) {
    const [{ kind, plugin }] = plugins;
    throw new Error(`this is the ${kind} "${plugin.name}" for tunehost, which starts it by itself; `
      + `name it in an experiment file, or try it with: tunehost plugins check ${process.argv[1]}`);
  }
}

/** @param {Plugin[]} plugins */
async function start(plugins) {
  const { PLUGIN_CLIENT_CERT: authority, PLUGIN_UNIX_SOCKET_DIR: dir } = process.env;
  const { key, cert, der } = newIdentity();
  const credentials = grpc.ServerCredentials.createSsl(hostAuthority(authority),
    [{ private_key: Buffer.from(key), cert_chain: Buffer.from(cert) }], true);
  if (!dir) {
    throw new Error("PLUGIN_UNIX_SOCKET_DIR is not set: this host speaks another protocol");
  }
  leaveEndToHost();
  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxReceive, "grpc.max_send_message_length": -1, "grpc.enable_channelz": 0,
  });
  const host = new Host();
  const endTraining = addServices(server, plugins, host);
  const end = ending(endTraining);
  server.addService(controller, { Shutdown: (/** @type {any} */ _, /** @type {Function} */ answer) => {
    answer(null, {});
    end(0);
  } });
  const injector = server.createConnectionInjector(credentials);
  const path = join(dir, `plugin-${process.pid}`);
  await host.listen(path, (socket) => injector.injectConnection(socket));
  host.watch(() => end(1));
  announce(path, der);
}

/**
 * Has the process live on when it gets SIGTERM. An engine sends that to all processes of a job that ends soon; the plugin
 * is needed until trials have saved. The host, or its agent, ends it, and it ends when they are gone. The processes that
 * it starts are not changed.
 */
function leaveEndToHost() {
  process.on("SIGTERM", () => {});
}

/**
 * Prints where the plugin listens. Later output to stdout goes to
 * stderr, and that of trials to their files.
 * @param {string} path
 * @param {Buffer} certificate
 */
function announce(path, certificate) {
  writeSync(1, `1|${protocol}|unix|${path}|grpc|${certificate.toString("base64").replace(/=+$/, "")}\n`);
  divert();
}

/**
 * Adds the plugins to the server; returns a function that ends training.
 * @param {import("@grpc/grpc-js").Server} server
 * @param {Plugin[]} plugins
 * @param {Host} host
 */
function addServices(server, plugins, host) {
  let endTraining = async () => {};
  /** @param {string} name @param {Record<string, Function>} methods */
  const add = (name, methods) => {
    const noticed = Object.entries(methods).map(([method, call]) => [method, (/** @type {any[]} */ ...args) => {
      host.called();
      call(...args);
    }]);
    server.addService(service(name), Object.fromEntries(noticed));
  };
  for (const { kind, plugin } of plugins) {
    if (kind === "searcher") {
      add("SearcherService", searcherService(plugin));
    } else if (kind === "scheduler") {
      add("SchedulerService", schedulerService(plugin));
    } else {
      const { methods, end } = trainableService(plugin);
      add("TrainableService", methods);
      endTraining = end;
    }
  }
  return endTraining;
}

/**
 * Ends the process once, after training has ended or the grace time is over.
 * @param {() => Promise<void>} endTraining
 */
function ending(endTraining) {
  let begun = false;
  return (/** @type {number} */ exitStatus) => {
    if (!begun) {
      begun = true;
      setTimeout(() => process.exit(exitStatus), endGrace);
      // Wait a moment, so that the answer to Shutdown is sent.
      endTraining().finally(() => setTimeout(() => process.exit(exitStatus), 10));
    }
  };
}

/** The only service of go-plugin that is needed. */
const empty = { serialize: () => Buffer.alloc(0), deserialize: () => ({}) };
const controller = {
  Shutdown: {
    path: "/plugin.GRPCController/Shutdown", requestStream: false, responseStream: false,
    requestSerialize: empty.serialize, requestDeserialize: empty.deserialize,
    responseSerialize: empty.serialize, responseDeserialize: empty.deserialize,
  },
};
