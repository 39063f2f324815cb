//! The certificate and its key, for TLS.

use std::{error::Error, sync::Arc};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::config::Tls;

/// HTTP/2's name in the TLS handshake (ALPN).
pub const H2: &[u8] = b"h2";

pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Box<dyn Error>> {
    let certificates =
        CertificateDer::pem_file_iter(&tls.certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}
