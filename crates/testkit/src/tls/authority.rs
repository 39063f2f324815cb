//! Certificates, made at run time: none is in the repository, so none expires there.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

/// What a server's certificate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// "localhost", 127.0.0.1 and ::1, for as long as the authority.
    Localhost,
    /// "elsewhere.test", which nobody here connects to.
    Elsewhere,
    /// "localhost", 127.0.0.1 and ::1, until the end of 2001.
    Past,
}

impl Of {
    /// The names and the dates.
    fn params(self) -> Result<CertificateParams, rcgen::Error> {
        let names: &[&str] = match self {
            Of::Localhost | Of::Past => &["localhost", "127.0.0.1", "::1"],
            Of::Elsewhere => &["elsewhere.test"],
        };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        if self == Of::Past {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2001, 12, 31);
        }
        Ok(params)
    }
}

/// A certificate authority of a test's own.
#[derive(Clone)]
pub struct Authority {
    issuer: Arc<Issuer<'static, KeyPair>>,
    certificate: CertificateDer<'static>,
    pem: String,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn new() -> io::Result<Self> {
        Self::make().map_err(io::Error::other)
    }

    fn make() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        let name = &mut params.distinguished_name;
        // One of the same name would be taken for it, with a signature that is wrong, and not for a stranger.
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let own_name = format!("Deadheat's test authority {number}");
        name.push(DnType::CommonName, own_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.into(),
            issuer: Arc::new(Issuer::new(params, key)),
        })
    }

    /// Its own certificate, in PEM: what a client has to believe.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// A server's certificate.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn server(&self, of: Of) -> io::Result<Identity> {
        let make = || self.issue(of.params()?, ExtendedKeyUsagePurpose::ServerAuth);
        make().map_err(io::Error::other)
    }

    /// A client's certificate.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn client(&self) -> io::Result<Identity> {
        let make = || {
            let params = CertificateParams::new(["client.test".to_owned()])?;
            self.issue(params, ExtendedKeyUsagePurpose::ClientAuth)
        };
        make().map_err(io::Error::other)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        purpose: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, rcgen::Error> {
        params
            .distinguished_name
            .push(DnType::CommonName, "Deadheat's test");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// A certificate with its key, both in PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

type Parsed = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Identity {
    /// A server's certificate that is its own authority, as `openssl req -x509` makes it.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn self_signed(of: Of) -> io::Result<Self> {
        let make = || {
            let mut params = of.params()?;
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate()?;
            let certificate = params.self_signed(&key)?;
            Ok(Self {
                certificate: certificate.pem(),
                key: key.serialize_pem(),
            })
        };
        make().map_err(|error: rcgen::Error| io::Error::other(error))
    }

    pub(crate) fn parsed(&self) -> Result<Parsed, rustls::pki_types::pem::Error> {
        let certificates = CertificateDer::pem_slice_iter(self.certificate.as_bytes());
        let certificates = certificates.collect::<Result<_, _>>()?;
        Ok((
            certificates,
            PrivateKeyDer::from_pem_slice(self.key.as_bytes())?,
        ))
    }
}
