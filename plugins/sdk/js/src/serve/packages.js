// The packages that serving needs. They are CommonJS: import would read each file twice, to find the names that it
// exports, which takes a fifth of the start of a plugin.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** @type {typeof import("@grpc/grpc-js")} */
export const grpc = require("@grpc/grpc-js");

/** Without the parser of .proto files. @type {typeof import("protobufjs/light.js")} */
export const protobuf = require("protobufjs/light");

/** @type {typeof import("asn1js")} */
export const asn1 = require("asn1js");

/** The messages and services of the protocol, of its .proto files. @type {import("protobufjs").INamespace} */
export const definitions = require("../../proto/tunehost.json");
