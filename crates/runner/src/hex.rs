//! Bytes in hexadecimal.

/// Two lower-case digits for each byte.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    let digits = bytes.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}
