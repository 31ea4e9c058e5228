//! TLS under a connection: certificates, and the handshake.
//!
//! It is done here and not by tonic, whose own comes between the connection and the code that reads
//! the client's announcements; `connections.rs` reads its output.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// The protocol within TLS: HTTP/2, by its registered name.
const HTTP_2: &[u8] = b"h2";

/// The requirements of gRPC over TLS, each in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate, followed by its signers'.
    pub certificate: Vec<u8>,
    /// The certificate's key.
    pub key: Vec<u8>,
    /// The required signer of clients' certificates; none: clients need none.
    pub client_ca: Option<Vec<u8>>,
}

impl fmt::Debug for Tls {
    /// Without the key: this may end in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("client_ca", &self.client_ca.is_some()).finish_non_exhaustive()
    }
}

impl Tls {
    /// The acceptor of handshakes; or the mistake in the certificates.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates("the clients' authority", pem)? {
                    roots
                        .add(authority)
                        .map_err(|error| format!("the clients' authority: {error}"))?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                let verifier =
                    verifier.map_err(|error| format!("the clients' authority: {error}"))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let chain = certificates("the certificate", &self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| format!("the key: {error}"))?;
        let mut config = builder
            .with_single_cert(chain, key)
            .map_err(|error| format!("the certificate and its key: {error}"))?;
        config.alpn_protocols = vec![HTTP_2.to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// At least one certificate.
fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match found {
        Ok(found) if found.is_empty() => Err(format!("{what}: there is no certificate in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
