//! The plugin's side of the TLS connection: a certificate made for this process, and a check
//! that the client is the host.

use crate::Result;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{version, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

/// Returns an acceptor for clients whose certificate was signed by `authority` (PEM), and the
/// server's own certificate in the form of the handshake.
pub fn server(authority: &str) -> Result<(TlsAcceptor, String)> {
    let other = "PLUGIN_CLIENT_CERT is no certificate: this host speaks another protocol";
    let authority = CertificateDer::from_pem_slice(authority.as_bytes()).map_err(|_| other)?;
    let mut roots = RootCertStore::empty();
    roots.add(authority).map_err(|_| other)?;
    let crypto = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), crypto.clone()).build()?;

    let own = rcgen::generate_simple_self_signed(["localhost".to_string()])?;
    let (certificate, key) = (own.cert.der().clone(), own.signing_key.serialize_der());
    let line = base64(&certificate);
    let key = PrivateKeyDer::try_from(key)?;
    let mut config = ServerConfig::builder_with_provider(crypto)
        .with_protocol_versions(&[&version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), line))
}

/// Base64 without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 3);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..=three.len() {
            text.push(char::from(DIGITS[(word >> (18 - 6 * i)) as usize & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_of_every_length() {
        let all: Vec<String> =
            ["", "f", "fo", "foo", "foob", "\u{7ff}\u{7ff}"].iter().map(|s| base64(s.as_bytes())).collect();
        assert_eq!(all, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "37/fvw"]);
    }
}
