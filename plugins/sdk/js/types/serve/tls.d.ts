/**
 * Makes a self-signed certificate for "localhost" on P-256.
 * @returns {{key: string, cert: string, der: Buffer}} PEM, and DER
 */
export declare function newIdentity(): {
    key: string;
    cert: string;
    der: Buffer;
};
/**
 * The authority that signs the host's certificate.
 * @param {string | undefined} pem
 * @returns {Buffer}
 */
export declare function hostAuthority(pem: string | undefined): Buffer;
