//! Huffman coding of header values (RFC 7541 appendix B), of printable ASCII alone: what else a value may have is nothing
//! that is read here.

/// The characters whose codes have this many bits, in the order of their codes: a code is the one before it plus one.
const BY_LENGTH: [(u32, &[u8]); 11] = [
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
fn codes() -> impl Iterator<Item = (u32, u32, &'static [u8])> {
    let mut next = (0, 0);
    BY_LENGTH.into_iter().map(move |(length, characters)| {
        let first = next.1 << (length - next.0);
        next = (length, first + characters.len() as u32);
        (length, first, characters)
    })
}

/// Decodes a value. `None`: it has other characters, or does not end as it should.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let (mut code, mut length) = (0u32, 0);
    for at in 0..bytes.len() * 8 {
        code = code << 1 | u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
        length += 1;
        if length > 19 {
            return None;
        }
        let found = codes().find_map(|(own, first, characters)| {
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
pub(super) fn encode(text: &[u8]) -> Vec<u8> {
    let code = |byte: &u8| {
        let mut codes = codes();
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
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_the_rfc() {
        // RFC 7541 C.4.1, C.6.1 and C.6.3.
        let examples: [(&[u8], &str); 5] = [
            (b"www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
            (b"302", "6402"),
            (
                b"Mon, 21 Oct 2013 20:13:21 GMT",
                "d07abe941054d444a8200595040b8166e082a62d1bff",
            ),
            (
                b"https://www.example.com",
                "9d29ad171863c78f0b97c8e9ae82ae43d3",
            ),
            (
                b"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
                "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ),
        ];
        for (text, hex) in examples {
            let coded = encode(text);
            let as_hex: String = coded.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(as_hex, hex);
            assert_eq!(decode(&coded).as_deref(), Some(text));
        }
        let printable: Vec<u8> = (b' '..=b'~').collect();
        assert_eq!(decode(&encode(&printable)), Some(printable));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for nonsense in [
            &[0xff][..],
            &[0xff; 4],
            &[0x00, 0xff, 0xff],
            &[0x18],
            &[0xff, 0xff, 0xfe],
        ] {
            assert_eq!(decode(nonsense), None, "{nonsense:02x?}");
        }
        assert_eq!(decode(&[]), Some(Vec::new()));
    }
}
