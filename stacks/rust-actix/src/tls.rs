//! The certificate and its key, for TLS.

use std::error::Error;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::config::Tls;

pub fn server_config(tls: &Tls) -> Result<ServerConfig, Box<dyn Error>> {
    let certificates =
        CertificateDer::pem_file_iter(&tls.certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&tls.key)?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    Ok(config)
}
