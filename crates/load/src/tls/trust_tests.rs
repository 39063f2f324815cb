use deadheat_model::load::Identity as Given;
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use super::*;
use crate::tls::certified;

const V1: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBIzCByQIUJJqOLZwdfcr18CpXlw1PHp1E8ZowCgYIKoZIzj0EAwIwFDESMBAG\n\
A1UEAwwJbG9jYWxob3N0MB4XDTI2MTEyNjAwNTQzN1oXDTI2MTIwNTAwNTQzN1ow\n\
FDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n\
MrTsoj8D9+6hqTTIA2n/xHiExilDOdrhQev3jAhyK1Y1haU4zbnu6SH+4DVXE17D\n\
oSC0zZZsHvIkAtoo9516bTAKBggqhkjOPQQDAgNJADBGAiEA2DdunrguZrL5D+nQ\n\
BojtwLiNy1xyQudu9Fu5kqftOj8CIQDm/Vmi26I+KV4qKiMR9avDefKUtnNzx5My\n\
trggr2bhWw==\n\
-----END CERTIFICATE-----";

const RSA1024: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIICBDCCAW2gAwIBAgIUPYtFLvVFU/I9YN8TlnCtXtToqcswDQYJKoZIhvcNAQEL\n\
BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTI2MTEyNjAwNTQzN1oXDTI2MTIw\n\
NTAwNTQzN1owFDESMBAGA1UEAwwJbG9jYWxob3N0MIGfMA0GCSqGSIb3DQEBAQUA\n\
A4GNADCBiQKBgQCy7PZc2BwWMgZLDOmy/7xqWmKRX5fVvr1wJX+YqzLe9PGxIFEr\n\
qiqyFfaF7DqM9JwRPBe75QP94pP9JSLfg8yJGcO/9K+Dj5FylvdHpvmUcuv85M2q\n\
NebYLnw6Gy/THR2+tikmi7G92S+BsxzcIHbQjtaaB8lUMZaon0vYVuDUPQIDAQAB\n\
o1MwUTAdBgNVHQ4EFgQUCzXLL/01XFkX+iS0tOMb0m2YsUUwHwYDVR0jBBgwFoAU\n\
CzXLL/01XFkX+iS0tOMb0m2YsUUwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0B\n\
AQsFAAOBgQAdYNqBV7uuI/wN5DZxu37D3WHhi4wgqGee/QkRl2Us11uU/XEFFFcT\n\
Q5Q5xr68Yn1iZoqy1jAxfKCDE4aBvKcVnfPdL2PBsy0I8ZigGG3ZbRVV4e0HtJhm\n\
C02KV5APMSy9i7SYWhq9Q2uUZYeZwtRoXQzwbq2KZRuo6QNEuzbe3w==\n\
-----END CERTIFICATE-----";

const P521: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIICAzCCAWagAwIBAgIUWBhtvCmEjRhm2RX1vulXgJsZjSEwCgYIKoZIzj0EAwIw\n\
FDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTI2MTEyNjAwNTQzN1oXDTI2MTIwNTAw\n\
NTQzN1owFDESMBAGA1UEAwwJbG9jYWxob3N0MIGbMBAGByqGSM49AgEGBSuBBAAj\n\
A4GGAAQBbm5D3xm4FSbuUSxD4YIBCrnOsnz2q0u1vyvIf3Ma0K9Ay/3uQLGN0KN0\n\
FPDM5S1hSWd3/8zNfTRHq/+rPz46mJUAl3CFm8j+nNPdJia+7z2C/TJMH/tAjQf3\n\
rZm56t/vx9kAvENClmVx9c0EnL891FTBKCkLZ3z3T1ltU37/IG7vlRKjUzBRMB0G\n\
A1UdDgQWBBQk5vHhxaIxDDuqa9lYwOeBbfGzfTAfBgNVHSMEGDAWgBQk5vHhxaIx\n\
DDuqa9lYwOeBbfGzfTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA4GKADCB\n\
hgJBbSbuPifa0UOWtJVoqwHWVpdJJq9KkUCrve9KDFV/gO2bKojITcSBGTvJkQ/k\n\
MW53ZCYJgdYHksWHr/77d2p8vqwCQSqTKb+i/HWnHViIYb2MRxnCO9Vf152eEeWk\n\
lw1JG9fCz243Vq/zaK1ksc12vx390ej8koca03JwIgD+gO08nWyL\n\
-----END CERTIFICATE-----";

const P256: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBfDCCASOgAwIBAgIUEc6GqEcX4gkFbiJOk+7bsHGp1OswCgYIKoZIzj0EAwIw\n\
FDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTI2MTEyNjAwNTQzN1oXDTI2MTIwNTAw\n\
NTQzN1owFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0D\n\
AQcDQgAE/dnNTiBwd9bkoQHJFcHUhRjyE6+W9z2EJHQTpmmCSBzazLyMQJ0Jpfl0\n\
6dXiugHOpTCqEzv2YHRCUOWrzenhE6NTMFEwHQYDVR0OBBYEFEA+pWcH5DjOk4of\n\
sHuxQwVtrZczMB8GA1UdIwQYMBaAFEA+pWcH5DjOk4ofsHuxQwVtrZczMA8GA1Ud\n\
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgGLDDao3HTXMRtGpciT6cepk7\n\
4kFrRA4YcBBMeJYgc58CIBto8UljDlNxe8rz6tBFMbV/MrcGQ2CETHa6rYkqdNUE\n\
-----END CERTIFICATE-----";

const V1_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg40FRi7g1cd0t7rtl\n\
MgQWZ89BCWQC8cwi2GuClD37TtuhRANCAAQytOyiPwP37qGpNMgDaf/EeITGKUM5\n\
2uFB6/eMCHIrVjWFpTjNue7pIf7gNVcTXsOhILTNlmwe8iQC2ij3nXpt\n\
-----END PRIVATE KEY-----";

const RSA1024_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBALLs9lzYHBYyBksM\n\
6bL/vGpaYpFfl9W+vXAlf5irMt708bEgUSuqKrIV9oXsOoz0nBE8F7vlA/3ik/0l\n\
It+DzIkZw7/0r4OPkXKW90em+ZRy6/zkzao15tgufDobL9MdHb62KSaLsb3ZL4Gz\n\
HNwgdtCO1poHyVQxlqifS9hW4NQ9AgMBAAECgYAUsn6JHOKa2qyJr/O0pgqIju4J\n\
/PHWYtsNBvlskpku20y9/YwGLggEU7ARq9LWDVGkWLwyGvrMOpJ93PbcviVBoPgQ\n\
mjNOthGurcTVbdPZXeRNwAIMcmAoDVV8eJgpkiGEQyICSJhbdoDB6S8cceRzXSr9\n\
043mhPFn6mS+9RjPIQJBAO0bE3Q6AoIXdTVRVi0CJYoH2ilYSHjPvy67VkI3oHWy\n\
DdpvVkwIDO6cC0dmm0tp8wn1zrfzXxhdvdP9ML3668kCQQDBLwUaCrJo3/rEGalk\n\
T7tNmbAcakGtiUnpySLbaco7Qbynx9A6cNtEU1sR9EPWZ48nqigflvFSXIOan9KX\n\
DHbVAkB8474jgkq/60s5glY57t+HDQvEq1PBDuxM2TBeQJ6sX9UcMXjrI3JsXJU0\n\
Tr+NwYjavjbcfbyhQP80IjECYKDBAkBY8On7ZGNhj4VnlZz8dwz4HEMNwgn8+JFU\n\
Fmt680jNYWWXJZKD5YO+AFaUfI5i/wjUrS2N5bOzRK6+mMifDHkFAkBJ9DAvYTtV\n\
VFlB5ocwCxAFdzVCqq13JHJhOcFI3PKFErreAWuN/LulsfZJSSjvKmJx8wcUEQUQ\n\
AJnqJggdbNo7\n\
-----END PRIVATE KEY-----";

const P521_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIBlVg56QXdWMfGUwAg\n\
aF5REpAZ93XIl9HZ9ZMD1jokUzrjxpXji3MdVqk/Kcdb7q+cs2SHt9dj8gOZCTxn\n\
N2w2VfahgYkDgYYABAFubkPfGbgVJu5RLEPhggEKuc6yfParS7W/K8h/cxrQr0DL\n\
/e5AsY3Qo3QU8MzlLWFJZ3f/zM19NEer/6s/PjqYlQCXcIWbyP6c090mJr7vPYL9\n\
Mkwf+0CNB/etmbnq3+/H2QC8Q0KWZXH1zQScvz3UVMEoKQtnfPdPWW1Tfv8gbu+V\n\
Eg==\n\
-----END PRIVATE KEY-----";

const P256_KEY: &str = "\
-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGsGZTsCdFy5euAJE\n\
1WdjZp2b3yXSxKEdvb2S0Zpx14KhRANCAAT92c1OIHB31uShAckVwdSFGPITr5b3\n\
PYQkdBOmaYJIHNrMvIxAnQml+XTp1eK6Ac6lMKoTO/ZgdEJQ5avN6eET\n\
-----END PRIVATE KEY-----";

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

#[test]
fn what_keeps_a_certificate_from_being_verified_is_read_from_it() {
    let cases = [
        (V1, Some("X.509 version 1")),
        (RSA1024, Some("fewer than 2,048 bits")),
        (P521, Some("P-521")),
        (P256, None),
    ];
    for (pem, expected) in cases {
        let found = flaw(&der(pem));
        match expected {
            Some(expected) => assert!(found.unwrap().contains(expected), "{found:?}"),
            None => assert_eq!(found, None),
        }
        let whole = der(pem);
        for cut in 0..whole.len() {
            // Whatever is cut off, reading ends without a panic.
            let _ = flaw(&whole[..cut]);
        }
    }
}

#[test]
fn a_client_certificate_of_any_version_is_sent_if_its_key_can_sign() {
    let provider = ring::default_provider();
    let given = |certificates: &str, key: &str| {
        let given = Given {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
        };
        certified(&given, &provider)
            .map(|key| key.cert.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(given(V1, V1_KEY), Ok(1));
    assert_eq!(given(P256, P256_KEY), Ok(1));
    for (certificate, key, expected) in [
        (P521, P521_KEY, "P-521"),
        (RSA1024, RSA1024_KEY, "fewer than 2,048 bits"),
        (V1, P256_KEY, "do not belong together"),
        (P256, V1_KEY, "do not belong together"),
    ] {
        let error = given(certificate, key).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let key = PrivateKeyDer::from_pem_slice(P256_KEY.as_bytes()).unwrap();
    assert_eq!(flaw_of_key(key.secret_der()), None);
}
