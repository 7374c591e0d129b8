// The protocol's messages and services, as proto/ defines them.

import { definitions, protobuf } from "./packages.js";

/** 64-bit numbers are Long objects, and a field that was not sent has its default. */
const plain = { defaults: true, arrays: true };

/**
 * The definition of a service of tunehost.v1 for gRPC.
 * @param {string} name
 * @returns {Record<string, any>}
 */
export function service(name) {
  const found = protobuf.Root.fromJSON(definitions).lookupService(`tunehost.v1.${name}`);
  return Object.fromEntries(found.methodsArray.map((method) => {
    method.resolve();
    const asked = messages(/** @type {any} */ (method.resolvedRequestType));
    const answered = messages(/** @type {any} */ (method.resolvedResponseType));
    return [method.name, {
      path: `/tunehost.v1.${name}/${method.name}`,
      requestStream: Boolean(method.requestStream), requestSerialize: asked.write, requestDeserialize: asked.read,
      responseStream: Boolean(method.responseStream), responseSerialize: answered.write,
      responseDeserialize: answered.read,
    }];
  }));
}

/**
 * Writes and reads messages of a type, as plain objects.
 * @param {import("protobufjs").Type} type
 */
function messages(type) {
  return {
    write: (/** @type {any} */ message) => type.encode(type.fromObject(message)).finish(),
    read: (/** @type {Uint8Array} */ bytes) => type.toObject(type.decode(bytes), plain),
  };
}
