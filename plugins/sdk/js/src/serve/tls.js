// The plugin's side of the TLS connection: a certificate made for this
// process, and a check that the client is the host.

import { generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { asn1 } from "./packages.js";

const { fromBER, Integer, ObjectIdentifier, Sequence, Set: SetOf, Utf8String, UTCTime,
  BitString, Boolean: Bool, OctetString, Constructed, Primitive } = asn1;

const day = 24 * 3600 * 1000;
const life = 3650 * day; // far beyond any experiment; the key lives in memory only

/**
 * Makes a self-signed certificate for "localhost" on P-256.
 * @returns {{key: string, cert: string, der: Buffer}} PEM, and DER
 */
export function newIdentity() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = certificateBody(publicKey.export({ type: "spki", format: "der" }));
  const signature = sign("sha256", new Uint8Array(body.toBER()), privateKey);
  const der = Buffer.from(new Sequence({
    value: [body, algorithm(), new BitString({ valueHex: bytes(signature) })],
  }).toBER());
  return { key: String(privateKey.export({ type: "pkcs8", format: "pem" })), cert: new X509Certificate(der).toString(), der };
}

/**
 * The signed part of a certificate (RFC 5280, section 4.1.2).
 * @param {Buffer} publicKey
 */
function certificateBody(publicKey) {
  const now = Date.now();
  const name = () => new Sequence({
    value: [new SetOf({ value: [new Sequence({ value: [new ObjectIdentifier({ value: "2.5.4.3" }), new Utf8String({ value: "tunehost plugin" })] })] })],
  });
  const time = (/** @type {number} */ at) => new UTCTime({ valueDate: new Date(at) });
  return new Sequence({
    value: [
      tagged(0, new Integer({ value: 2 })), // version 3
      new Integer({ value: 1 }), // serial number
      algorithm(),
      name(), // issuer
      new Sequence({ value: [time(now - day), time(now + life)] }),
      name(), // subject
      fromBER(bytes(publicKey)).result,
      tagged(3, new Sequence({ value: extensions() })),
    ],
  });
}

function extensions() {
  const localhost = new Primitive({ idBlock: { tagClass: 3, tagNumber: 2 }, valueHex: bytes(Buffer.from("localhost")) });
  return [
    // It signs itself, so that clients that trust it accept it as an authority.
    extension("2.5.29.19", new Sequence({ value: [new Bool({ value: true })] }), true),
    extension("2.5.29.15", new BitString({ valueHex: new Uint8Array([0x84]).buffer, unusedBits: 2 }), true),
    extension("2.5.29.37", new Sequence({ value: [new ObjectIdentifier({ value: "1.3.6.1.5.5.7.3.1" })] })),
    extension("2.5.29.17", new Sequence({ value: [localhost] })),
  ];
}

/** ecdsa-with-SHA256 */
function algorithm() {
  return new Sequence({ value: [new ObjectIdentifier({ value: "1.2.840.10045.4.3.2" })] });
}

/**
 * @param {string} id
 * @param {{toBER(): ArrayBuffer}} value
 * @param {boolean} [critical]
 */
function extension(id, value, critical = false) {
  const flag = critical ? [new Bool({ value: true })] : [];
  return new Sequence({ value: [new ObjectIdentifier({ value: id }), ...flag, new OctetString({ valueHex: value.toBER() })] });
}

/**
 * @param {number} tagNumber
 * @param {any} value
 */
function tagged(tagNumber, value) {
  return new Constructed({ idBlock: { tagClass: 3, tagNumber }, value: [value] });
}

/**
 * @param {Uint8Array} b
 * @returns {ArrayBuffer}
 */
function bytes(b) {
  return new Uint8Array(b).buffer;
}

/**
 * The authority that signs the host's certificate.
 * @param {string | undefined} pem
 * @returns {Buffer}
 */
export function hostAuthority(pem) {
  try {
    return Buffer.from(new X509Certificate(pem ?? "").toString());
  } catch {
    throw new Error("PLUGIN_CLIENT_CERT is no certificate: this host speaks another protocol");
  }
}
