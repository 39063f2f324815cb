//! Which certificates of servers are accepted.

use std::sync::Arc;

use deadheat_model::load::Trust;
use rustls::{
    CertificateError, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
};

use super::problem;
use crate::LoadError;

/// What checks the certificate of a server; asks the system for its authorities if they are wanted.
pub(super) fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let webpki = |roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| problem(error.to_string()))
    };
    Ok(match trust {
        Trust::System => webpki(system_authorities()?)?,
        Trust::Authorities { pem } => {
            let given = certificates(pem)?;
            Arc::new(Given {
                webpki: webpki(authorities(&given)?)?,
                given,
            })
        }
        Trust::Anything => any_certificate(Arc::clone(provider)),
    })
}

fn system_authorities() -> Result<RootCertStore, LoadError> {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        Err(problem(
            "this system has no certificate authorities: install them (ca-certificates), name one (--cacert) or \
             accept any certificate (--insecure)",
        ))
    } else {
        Ok(store)
    }
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let found = found.map_err(|error| {
        problem(format!(
            "an authority's certificate cannot be read: {error}"
        ))
    })?;
    if found.is_empty() {
        Err(problem(
            "the authorities' file has no certificate in it (PEM)",
        ))
    } else {
        Ok(found)
    }
}

fn authorities(given: &[CertificateDer<'static>]) -> Result<RootCertStore, LoadError> {
    let mut store = RootCertStore::empty();
    for certificate in given {
        store.add(certificate.clone()).map_err(|error| {
            problem(format!(
                "an authority's certificate cannot be used: {error}"
            ))
        })?;
    }
    Ok(store)
}

/// Accepts what the given authorities have signed, and the given certificates themselves.
///
/// `openssl req -x509` makes a certificate that is an authority. webpki refuses one as a server's own, also when the
/// user trusts exactly this certificate; OpenSSL and curl accept it.
#[derive(Debug)]
struct Given {
    webpki: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Given {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = self.webpki.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match judged {
            // webpki has found by then that the certificate is valid now, but has not looked at its name.
            Err(error) if is_an_authority(&error) && self.given.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.webpki
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

/// Whether a certificate was refused because it is an authority's.
fn is_an_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = error else {
        return false;
    };
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// A verifier that accepts any certificate, and checks only that the server has its key.
pub fn any_certificate(provider: Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Anybody(provider))
}

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
