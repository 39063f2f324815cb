//! Verification of server certificates, and the flaws that make a certificate unusable. They are read from its DER,
//! even if TLS libraries refuse to parse it.

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

/// The verifier of server certificates; loads the system's authorities if the spec asks for them.
pub(super) fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let webpki = |roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| problem(error.to_string()))
    };
    let strict: Arc<dyn ServerCertVerifier> = match trust {
        Trust::System => webpki(system_authorities()?)?,
        Trust::Authorities { pem } => {
            let given = certificates(pem)?;
            Arc::new(GivenCertificatesVerifier {
                webpki: webpki(authorities(&given)?)?,
                given,
            })
        }
        Trust::Anything => return Ok(any_certificate()),
    };
    Ok(Arc::new(ExplainingVerifier(strict)))
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
            problem(match error {
                rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why)))
                    if matches!(
                        why.downcast_ref(),
                        Some(webpki::Error::UnsupportedCertVersion)
                    ) =>
                {
                    "an authority's certificate is of X.509 version 1: make one of version 3 (openssl req -x509)"
                        .to_owned()
                }
                error => format!("an authority's certificate cannot be used: {error}"),
            })
        })?;
    }
    Ok(store)
}

/// A verifier that accepts certificates signed by the given authorities, and the given certificates themselves.
///
/// `openssl req -x509` makes a certificate that is an authority. webpki refuses one as a server's own, also when the
/// user trusts exactly this certificate; OpenSSL and curl accept it.
#[derive(Debug)]
struct GivenCertificatesVerifier {
    webpki: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for GivenCertificatesVerifier {
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

/// A verifier that explains why a certificate is refused, beyond "invalid".
#[derive(Debug)]
struct ExplainingVerifier(Arc<dyn ServerCertVerifier>);

const SELF_SIGNED: &str = "the server's certificate is self-signed: nobody trusted vouches for it";

/// The flaw of a certificate, in a few words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct CertificateFlaw(pub(super) &'static str);

fn explained<T>(
    judged: Result<T, rustls::Error>,
    certificate: &CertificateDer<'_>,
) -> Result<T, rustls::Error> {
    let is_unknown = |error: &rustls::Error| {
        matches!(
            error,
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)
        ) || is_an_authority(error)
    };
    let flaw = |error: &rustls::Error| {
        let is_self_signed = || is_unknown(error) && is_self_issued(certificate);
        flaw(certificate).or_else(|| is_self_signed().then_some(SELF_SIGNED))
    };
    judged.map_err(|error| match (flaw(&error), error) {
        (Some(flaw), rustls::Error::InvalidCertificate(_)) => {
            let flaw = OtherError(Arc::new(CertificateFlaw(flaw)));
            rustls::Error::InvalidCertificate(CertificateError::Other(flaw))
        }
        (_, error) => error,
    })
}

impl ServerCertVerifier for ExplainingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged =
            self.0
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        explained(judged, end_entity)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let judged = self
            .0
            .verify_tls12_signature(message, certificate, signature);
        explained(judged, certificate)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let judged = self
            .0
            .verify_tls13_signature(message, certificate, signature);
        explained(judged, certificate)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// A verifier that accepts any certificate.
///
/// It does not verify the handshake's signature either. That would show that the server has the certificate's key, but
/// whoever is between client and server can present a certificate of their own. Without it, certificates and keys can be
/// accepted that the TLS library cannot parse or use: X.509 version 1, short RSA keys, P-521.
pub fn any_certificate() -> Arc<dyn ServerCertVerifier> {
    Arc::new(AcceptAnyCertificate)
}

#[derive(Debug)]
struct AcceptAnyCertificate;

/// Every signature scheme that a server may sign with, the common ones first.
const ALL_SCHEMES: [SignatureScheme; 15] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    // rsa_pss_pss_sha256, 384 and 512 (RFC 8446 §4.2.3): of keys that sign with PSS alone.
    SignatureScheme::Unknown(0x0809),
    SignatureScheme::Unknown(0x080a),
    SignatureScheme::Unknown(0x080b),
    SignatureScheme::RSA_PKCS1_SHA1,
];

impl ServerCertVerifier for AcceptAnyCertificate {
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
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ALL_SCHEMES.to_vec()
    }
}

/// An element of DER (X.690): its tag, its content, and its bytes with both.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    whole: &'a [u8],
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The tag of the version of a certificate (RFC 5280 §4.1). Certificates of version 1 have no such element.
const VERSION: u8 = 0xa0;

const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
const P_521: &[u8] = b"\x2b\x81\x04\x00\x23";
const ED448: &[u8] = b"\x2b\x65\x71";
/// Shorter RSA keys are refused by the library that Deadheat uses for TLS.
const MIN_RSA_BITS: usize = 2048;

/// Removes the first element from `bytes`.
fn take<'a>(bytes: &mut &'a [u8]) -> Option<Element<'a>> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = length
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    let whole = &bytes[..bytes.len() - rest.len()];
    *bytes = rest;
    Some(Element {
        tag,
        content,
        whole,
    })
}

fn take_tagged<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<Element<'a>> {
    take(bytes).filter(|element| element.tag == tag)
}

/// The parts of a certificate (RFC 5280 §4.1) that are read here.
struct Certificate<'a> {
    is_version_1: bool,
    issuer: Element<'a>,
    subject: Element<'a>,
    /// The public key with its algorithm.
    key: Element<'a>,
}

fn read(mut der: &[u8]) -> Option<Certificate<'_>> {
    let mut outer = take_tagged(&mut der, SEQUENCE)?.content;
    let mut rest = take_tagged(&mut outer, SEQUENCE)?.content;
    let is_version_1 = rest.first() != Some(&VERSION);
    if !is_version_1 {
        take(&mut rest)?;
    }
    take_tagged(&mut rest, INTEGER)?;
    let _signature_algorithm = take_tagged(&mut rest, SEQUENCE)?;
    let issuer = take_tagged(&mut rest, SEQUENCE)?;
    let _validity = take_tagged(&mut rest, SEQUENCE)?;
    Some(Certificate {
        is_version_1,
        issuer,
        subject: take_tagged(&mut rest, SEQUENCE)?,
        key: take_tagged(&mut rest, SEQUENCE)?,
    })
}

/// The public key of a certificate with its algorithm (SubjectPublicKeyInfo).
pub(super) fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    read(certificate).map(|certificate| certificate.key.whole)
}

/// Whether a certificate names itself as the one that has signed it.
fn is_self_issued(certificate: &[u8]) -> bool {
    let certificate = read(certificate);
    certificate.is_some_and(|one| one.issuer.whole == one.subject.whole)
}

/// The flaw that keeps a certificate from being verified, to follow "the server's certificate "; `None`: no known flaw.
pub(super) fn flaw(certificate: &[u8]) -> Option<&'static str> {
    let certificate = read(certificate)?;
    if certificate.is_version_1 {
        return Some(
            "the server's certificate is of X.509 version 1, which cannot be verified: it names no host",
        );
    }
    let mut key = certificate.key.content;
    let mut algorithm = take_tagged(&mut key, SEQUENCE)?.content;
    match take_tagged(&mut algorithm, OBJECT)?.content {
        RSA => {
            let bits = take_tagged(&mut key, BIT_STRING)?.content;
            let mut inside = bits.get(1..)?;
            let mut numbers = take_tagged(&mut inside, SEQUENCE)?.content;
            let modulus = take_tagged(&mut numbers, INTEGER)?.content;
            (modulus_bits(modulus) < MIN_RSA_BITS).then_some(
                "the server's certificate has an RSA key of fewer than 2,048 bits, which cannot be verified",
            )
        }
        ED448 => Some("the server's certificate has a key of Ed448, which cannot be verified"),
        _ if take_tagged(&mut algorithm, OBJECT)?.content == P_521 => {
            Some("the server's certificate has a key on the curve P-521, which cannot be verified")
        }
        _ => None,
    }
}

fn modulus_bits(modulus: &[u8]) -> usize {
    let start = modulus.iter().position(|byte| *byte != 0);
    start.map_or(0, |start| {
        (modulus.len() - start) * 8 - modulus[start].leading_zeros() as usize
    })
}

/// Why a private key in DER cannot sign; `None`: no known flaw.
pub(super) fn flaw_of_key(key: &[u8]) -> Option<&'static str> {
    let has = |object: &[u8]| {
        let mut encoded = vec![OBJECT, object.len() as u8];
        encoded.extend_from_slice(object);
        key.windows(encoded.len()).any(|part| part == encoded)
    };
    if has(P_521) {
        Some("its key is on the curve P-521; use P-256, P-384, Ed25519 or RSA")
    } else if has(ED448) {
        Some("its key is of Ed448; use P-256, P-384, Ed25519 or RSA")
    } else if key.len() < 1_000 && (has(RSA) || key.get(4..7) == Some(b"\x02\x01\x00")) {
        // A PKCS #8 or PKCS #1 key of 2,048 bits takes more than 1,100 bytes.
        Some("its RSA key has fewer than 2,048 bits")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
