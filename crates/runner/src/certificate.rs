//! The certificate of a session: made when it begins, for servers that are asked over TLS.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
    sync::Arc,
};

use deadheat_model::load::{Tls, Trust};
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, SanType,
};
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};

/// A certificate that signs itself, with its key, in files of PEM.
#[derive(Clone)]
pub struct Certificate(Arc<CertificateData>);

struct CertificateData {
    pem: String,
    roots: Arc<RootCertStore>,
    folder: PathBuf,
}

impl Certificate {
    /// A new one in `folder`, for localhost, the addresses of the loopback interface, and `address`: ECDSA on P-256, the key
    /// as PKCS#8.
    ///
    /// # Errors
    /// When its files cannot be written.
    pub fn make(address: IpAddr, folder: &Path) -> io::Result<Self> {
        let (pem, key) = signed(address).map_err(io::Error::other)?;
        let mut roots = RootCertStore::empty();
        let certificate =
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(io::Error::other)?;
        roots.add(certificate).map_err(io::Error::other)?;
        let made = Self(Arc::new(CertificateData {
            pem,
            roots: Arc::new(roots),
            folder: folder.to_owned(),
        }));
        fs::write(made.path(), &made.0.pem)?;
        fs::write(made.key_path(), key)?;
        Ok(made)
    }

    /// The file of the certificate.
    pub fn path(&self) -> PathBuf {
        self.0.folder.join("certificate.pem")
    }

    /// The file of its private key.
    pub fn key_path(&self) -> PathBuf {
        self.0.folder.join("key.pem")
    }

    /// TLS of a load on a server at `address`, which must have this certificate.
    pub(crate) fn load(&self, address: IpAddr) -> Tls {
        Tls {
            server_name: address.to_string(),
            trust: Trust::Authorities {
                pem: self.0.pem.clone(),
            },
            identity: None,
            resumption: true,
            version: None,
            cipher_suites: Vec::new(),
        }
    }

    /// TLS of a client that offers these protocols by ALPN, to servers that must have this certificate.
    pub(crate) fn client(&self, alpn: &[&str]) -> Arc<ClientConfig> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites of TLS 1.2 and 1.3")
            .with_root_certificates(Arc::clone(&self.0.roots))
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

/// A certificate with its key, both in PEM.
fn signed(address: IpAddr) -> Result<(String, String), rcgen::Error> {
    let mut params = CertificateParams::new(["localhost".to_owned()])?;
    let mut addresses = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    if !addresses.contains(&address) {
        addresses.push(address);
    }
    let addresses = addresses.into_iter().map(SanType::IpAddress);
    params.subject_alt_names.extend(addresses);
    let name = &mut params.distinguished_name;
    name.push(DnType::CommonName, "localhost");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}
