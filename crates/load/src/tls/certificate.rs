//! What in a certificate keeps it from being used: read from its DER, also where TLS libraries refuse to parse it.

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
/// The version of a certificate (RFC 5280 §4.1), which one of version 1 does not have.
const VERSION: u8 = 0xa0;

const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
const P_521: &[u8] = b"\x2b\x81\x04\x00\x23";
const ED448: &[u8] = b"\x2b\x65\x71";
/// Shorter RSA keys are refused by the library that Deadheat uses for TLS.
const LEAST_RSA_BITS: usize = 2048;

/// Takes the first element off `bytes`.
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

/// A certificate (RFC 5280 §4.1) as far as it matters here.
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
pub(super) fn is_self_issued(certificate: &[u8]) -> bool {
    let certificate = read(certificate);
    certificate.is_some_and(|one| one.issuer.whole == one.subject.whole)
}

/// What keeps a certificate from being verified, after "the server's certificate "; `None`: nothing that is known here.
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
            (modulus_bits(modulus) < LEAST_RSA_BITS).then_some(
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

/// Why a private key in DER cannot sign, if that can be seen: its curve, or nothing.
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
#[path = "certificate_tests.rs"]
mod tests;
