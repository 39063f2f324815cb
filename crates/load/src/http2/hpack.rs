//! Header compression (RFC 7541) as far as a load needs it. Headers are written without indexing and without Huffman
//! coding. Of an answer's headers, the status, the length and the status of a gRPC call are read. Huffman decoding
//! covers only printable ASCII, because these values have no other characters.
//!
//! The decoder's table has no entries: the client announces a size of 0, and checks that the server keeps to it. So
//! header blocks do not depend on each other.

/// The value for a `grpc-status` that is not a number.
pub(crate) const NOT_A_NUMBER: u32 = u32::MAX;

/// The fields that are read from a header block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    /// `:status`.
    pub(super) status: Option<u16>,
    /// `content-length`.
    pub(super) length: Option<u64>,
    /// Whether there is any pseudo-header.
    pub(super) has_pseudo: bool,
    /// The problem of the first field that breaks a rule of HTTP (RFC 9113 §8.1.1).
    pub(super) malformed: Option<&'static str>,
    /// `grpc-status`, or [`NOT_A_NUMBER`].
    pub(super) grpc_status: Option<u32>,
    /// `grpc-message`.
    pub(super) grpc_message: Option<Text<'a>>,
}

/// The meaning of a field to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Status,
    Length,
    /// A pseudo-header that no answer has.
    Request,
    /// A field about the connection, for which HTTP/2 has frames (RFC 9113 §8.2.2).
    Connection,
    UpperCase,
    GrpcStatus,
    GrpcMessage,
    Other,
}

/// Names that matter, as they are spelled and as they are Huffman-coded (RFC 7541 appendix B).
const NAMES: [(&[u8], &[u8], Kind); 9] = [
    (b":status", &[0xb8, 0x84, 0x8d, 0x36, 0xa3], Kind::Status),
    (
        b"content-length",
        &[0x21, 0xea, 0x49, 0x6a, 0x4a, 0xd4, 0x16, 0xa9, 0x93, 0x3f],
        Kind::Length,
    ),
    (
        b"connection",
        &[0x21, 0xea, 0xa8, 0xa4, 0x49, 0x8f, 0x57],
        Kind::Connection,
    ),
    (
        b"transfer-encoding",
        &[
            0x4d, 0x83, 0xa9, 0x12, 0x96, 0xc5, 0x8b, 0x51, 0x0f, 0x21, 0xaa, 0x9b,
        ],
        Kind::Connection,
    ),
    (
        b"keep-alive",
        &[0xea, 0x52, 0xd6, 0xb0, 0xe8, 0x37, 0x72, 0xff],
        Kind::Connection,
    ),
    (
        b"upgrade",
        &[0xb6, 0xb9, 0xac, 0x1c, 0x85],
        Kind::Connection,
    ),
    (
        b"proxy-connection",
        &[
            0xae, 0xc3, 0xf9, 0xf4, 0xb1, 0x0f, 0x55, 0x45, 0x22, 0x4c, 0x7a, 0xbf,
        ],
        Kind::Connection,
    ),
    (
        b"grpc-status",
        &[0x9a, 0xca, 0xc8, 0xb2, 0x12, 0x34, 0xda, 0x8f],
        Kind::GrpcStatus,
    ),
    (
        b"grpc-message",
        &[0x9a, 0xca, 0xc8, 0xb5, 0x25, 0x42, 0x07, 0x31, 0x7f],
        Kind::GrpcMessage,
    ),
];

/// The statuses of the static table, from index 8 on (RFC 7541 appendix A).
const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
/// The entries of the static table.
const STATIC: u32 = 61;
const CONTENT_LENGTH: u32 = 28;
const TRANSFER_ENCODING: u32 = 57;

const TRUNCATED: &str = "a header block ends in the middle of a field";
const NO_ENTRY: &str = "a header refers to an entry that the table does not have";

/// A string as it is encoded in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether it is Huffman-coded.
    pub(super) is_coded: bool,
}

impl Text<'_> {
    /// The decoded characters; `None`: they are not printable ASCII.
    pub(super) fn decoded(self) -> Option<Vec<u8>> {
        if self.is_coded {
            huffman_decode(self.bytes)
        } else {
            Some(self.bytes.to_vec())
        }
    }
}

/// Reads a header block. An error is one of compression, after which the connection is unreadable.
pub(super) fn read(block: &[u8]) -> Result<Fields<'_>, &'static str> {
    let mut fields = Fields::default();
    let mut rest = block;
    let (mut is_first, mut has_regular) = (true, false);
    while let Some(&first) = rest.first() {
        if first & 0xe0 == 0x20 {
            // RFC 7541 §4.2: at the start of a block, and never above what was announced.
            if !is_first {
                return Err("a table size update is behind a header");
            }
            if integer(&mut rest, 5)? != 0 {
                return Err("a table size update goes beyond the announced size of 0");
            }
            continue;
        }
        is_first = false;
        let (kind, value) = if first & 0x80 != 0 {
            match integer(&mut rest, 7)? {
                index @ 8..=14 => {
                    let status = STATUSES[index as usize - 8];
                    fields.note_pseudo(has_regular);
                    fields.note_status(Some(status));
                    continue;
                }
                index => (indexed(index)?, None),
            }
        } else {
            // With incremental indexing (01), without (0000) or never (0001): no difference with a table of size 0.
            let prefix = if first & 0x40 != 0 { 6 } else { 4 };
            let kind = match integer(&mut rest, prefix)? {
                0 => named(text(&mut rest)?),
                index => indexed(index)?,
            };
            (kind, Some(text(&mut rest)?))
        };
        match kind {
            Kind::Status => {
                fields.note_pseudo(has_regular);
                let status = value.and_then(digits).filter(|(_, count)| *count == 3);
                fields.note_status(status.map(|(status, _)| status as u16));
            }
            Kind::Request => {
                fields.note_pseudo(has_regular);
                fields.note("a pseudo-header that only requests have");
            }
            Kind::Length => match (value.and_then(digits), fields.length) {
                (Some((length, _)), None) => fields.length = Some(length),
                (Some(_), Some(_)) => fields.note("it has more than one content-length"),
                (None, _) => fields.note("its content-length is not a number"),
            },
            Kind::Connection => fields.note("a header of HTTP/1 that HTTP/2 forbids"),
            Kind::UpperCase => fields.note("a header's name has capital letters"),
            Kind::GrpcStatus => {
                let status = value.and_then(digits).map(|(status, _)| status);
                let status = status.and_then(|status| status.try_into().ok());
                fields.grpc_status = Some(status.unwrap_or(NOT_A_NUMBER));
            }
            Kind::GrpcMessage => fields.grpc_message = value,
            Kind::Other => {}
        }
        has_regular |= !matches!(kind, Kind::Status | Kind::Request);
    }
    Ok(fields)
}

impl Fields<'_> {
    fn note(&mut self, why: &'static str) {
        self.malformed.get_or_insert(why);
    }

    fn note_pseudo(&mut self, has_regular: bool) {
        self.has_pseudo = true;
        if has_regular {
            self.note("a pseudo-header is behind other headers");
        }
    }

    fn note_status(&mut self, status: Option<u16>) {
        match (status, self.status) {
            (Some(status @ 100..=999), None) => self.status = Some(status),
            (_, Some(_)) => self.note("it has more than one :status"),
            _ => self.note("its :status is not a number of three digits"),
        }
    }
}

/// The meaning of a name in the static table.
fn indexed(index: u32) -> Result<Kind, &'static str> {
    match index {
        1..=7 => Ok(Kind::Request),
        8..=14 => Ok(Kind::Status),
        CONTENT_LENGTH => Ok(Kind::Length),
        TRANSFER_ENCODING => Ok(Kind::Connection),
        _ if (1..=STATIC).contains(&index) => Ok(Kind::Other),
        _ => Err(NO_ENTRY),
    }
}

/// The meaning of a name that is spelled out.
fn named(name: Text<'_>) -> Kind {
    let is = |(plain, coded, _): &&(&[u8], &[u8], Kind)| {
        name.bytes == if name.is_coded { *coded } else { *plain }
    };
    if let Some((_, _, kind)) = NAMES.iter().find(is) {
        return *kind;
    }
    let first = name.bytes.first().copied().unwrap_or_default();
    // The code of a colon is 1011100.
    if (name.is_coded && first >> 1 == 0x5c) || (!name.is_coded && first == b':') {
        Kind::Request
    } else if !name.is_coded && name.bytes.iter().any(u8::is_ascii_uppercase) {
        Kind::UpperCase
    } else {
        Kind::Other
    }
}

/// A number with a prefix of this many bits (RFC 7541 §5.1).
#[inline]
fn integer(rest: &mut &[u8], prefix: u32) -> Result<u32, &'static str> {
    let (first, mut after) = rest.split_first().ok_or(TRUNCATED)?;
    let most = (1u32 << prefix) - 1;
    let mut value = u32::from(*first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (next, behind) = after.split_first().ok_or(TRUNCATED)?;
            after = behind;
            // No header is longer than 2²¹ bytes, and no index is higher.
            if shift > 14 {
                return Err("a number in a header block is too large");
            }
            value += u32::from(next & 0x7f) << shift;
            shift += 7;
            if next & 0x80 == 0 {
                break;
            }
        }
    }
    *rest = after;
    Ok(value)
}

/// A string (RFC 7541 §5.2).
#[inline]
fn text<'a>(rest: &mut &'a [u8]) -> Result<Text<'a>, &'static str> {
    let is_coded = rest.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer(rest, 7)? as usize;
    let (bytes, after) = rest.split_at_checked(length).ok_or(TRUNCATED)?;
    *rest = after;
    Ok(Text { bytes, is_coded })
}

/// A number in decimal digits, and the number of digits; `None`: it has other characters.
fn digits(text: Text<'_>) -> Option<(u64, usize)> {
    let mut number = Some(0u64);
    let mut count = 0;
    let mut add = |digit: u8| {
        count += 1;
        number = number
            .and_then(|number| number.checked_mul(10))
            .and_then(|number| number.checked_add(digit.into()));
    };
    if !text.is_coded {
        for byte in text.bytes {
            byte.is_ascii_digit().then(|| add(byte - b'0'))?;
        }
    } else {
        coded_digits(text.bytes, add)?;
    }
    number.filter(|_| count > 0).map(|number| (number, count))
}

/// Reads Huffman-coded digits: 0 to 2 have the codes 00000 to 00010, 3 to 9 have 011001 to 011111 (RFC 7541 appendix B).
/// `None`: there are other characters.
fn coded_digits(bytes: &[u8], mut add: impl FnMut(u8)) -> Option<()> {
    let total = bytes.len() * 8;
    // `count` bits from `at` on; ones after the end.
    let bits = |at: usize, count: usize| {
        (at..at + count).fold(0u8, |value, at| {
            let byte = bytes.get(at / 8).copied().unwrap_or(0xff);
            value << 1 | (byte >> (7 - at % 8) & 1)
        })
    };
    let mut at = 0;
    while at < total {
        match bits(at, 5) {
            digit @ 0..=2 if at + 5 <= total => {
                add(digit);
                at += 5;
            }
            _ if at + 6 <= total && (0x19..=0x1f).contains(&bits(at, 6)) => {
                add(bits(at, 6) - 0x19 + 3);
                at += 6;
            }
            // The end is filled with less than a byte of ones (RFC 7541 §5.2).
            _ => return (total - at < 8 && bits(at, 7) == 0x7f).then_some(()),
        }
    }
    Some(())
}

/// Appends a number with a prefix of this many bits, whose other bits are `high`.
fn put_integer(mut value: usize, prefix: u32, high: u8, out: &mut Vec<u8>) {
    let most = (1usize << prefix) - 1;
    if value < most {
        return out.push(high | value as u8);
    }
    out.push(high | most as u8);
    value -= most;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a string without Huffman coding.
pub(super) fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_integer(text.len(), 7, 0, out);
    out.extend_from_slice(text);
}

/// Appends the beginning of a field whose name is in the static table: its value follows ([`put_text`]).
pub(super) fn put_indexed_name(index: usize, out: &mut Vec<u8>) {
    put_integer(index, 4, 0, out);
}

/// Appends a field's name that is not in the static table; its value follows.
pub(super) fn put_name(name: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    put_text(name, out);
}

/// Sets the table's size to 0. It must be at the start of the first block of a connection, because the server may allow
/// a smaller table than the default (RFC 7541 §4.2).
pub(super) const NO_TABLE: u8 = 0x20;

/// Huffman codes (RFC 7541 appendix B): for each number of bits, the characters with codes of that length. Each code is
/// the previous one plus one.
const HUFFMAN_CODES: [(u32, &[u8]); 11] = [
    (5, b"012aceiost"),
    (6, b" %-./3456789=A_bdfghlmnpru"),
    (7, b":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"),
    (8, b"&*,;XZ"),
    (10, b"!\"()?"),
    (11, b"'+|"),
    (12, b"#>"),
    (13, b"\0$@[]~"),
    (14, b"^}"),
    (15, b"<`{"),
    (19, b"\\"),
];

/// Each length, its first code, and the characters that have such codes.
fn huffman_codes() -> impl Iterator<Item = (u32, u32, &'static [u8])> {
    let mut next = (0, 0);
    HUFFMAN_CODES.into_iter().map(move |(length, characters)| {
        let first = next.1 << (length - next.0);
        next = (length, first + characters.len() as u32);
        (length, first, characters)
    })
}

/// Decodes a value. `None`: it has other characters, or its padding is wrong.
fn huffman_decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let (mut code, mut length) = (0u32, 0);
    for at in 0..bytes.len() * 8 {
        code = code << 1 | u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
        length += 1;
        if length > 19 {
            return None;
        }
        let found = huffman_codes().find_map(|(own, first, characters)| {
            let nth = code.checked_sub(first).filter(|_| own == length)?;
            characters.get(nth as usize)
        });
        if let Some(character) = found {
            out.push(*character);
            (code, length) = (0, 0);
        }
    }
    // The end is filled with less than a byte of ones (RFC 7541 §5.2).
    (length < 8 && code == (1 << length) - 1).then_some(out)
}

/// Encodes a value.
#[cfg(test)]
pub(super) fn huffman_encode(text: &[u8]) -> Vec<u8> {
    let code = |byte: &u8| {
        let mut codes = huffman_codes();
        codes.find_map(|(length, first, characters)| {
            let nth = characters.iter().position(|other| other == byte)?;
            Some(format!(
                "{:0width$b}",
                first + nth as u32,
                width = length as usize
            ))
        })
    };
    let mut bits: String = text.iter().map(|byte| code(byte).unwrap()).collect();
    while !bits.len().is_multiple_of(8) {
        bits.push('1');
    }
    let bytes = bits.as_bytes().chunks(8);
    bytes
        .map(|bits| {
            bits.iter()
                .fold(0, |byte, bit| byte << 1 | u8::from(*bit == b'1'))
        })
        .collect()
}

#[cfg(test)]
#[path = "hpack_tests.rs"]
mod tests;
