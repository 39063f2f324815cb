use super::*;

#[test]
fn names_are_coded_as_the_rfc_says() {
    for (plain, coded, _) in NAMES {
        assert_eq!(
            huffman_encode(plain),
            coded,
            "{}",
            String::from_utf8_lossy(plain)
        );
    }
}

fn literal(name: &[u8], value: &[u8], in_code: bool) -> Vec<u8> {
    let mut out = vec![0x40];
    for text in [name, value] {
        if in_code {
            let text = huffman_encode(text);
            put_integer(text.len(), 7, 0x80, &mut out);
            out.extend(text);
        } else {
            put_text(text, &mut out);
        }
    }
    out
}

#[test]
fn status_and_length_are_read_however_they_are_spelled() {
    for in_code in [false, true] {
        for status in [100, 200, 204, 302, 418, 503, 999] {
            let head = literal(b":status", status.to_string().as_bytes(), in_code);
            for length in [0, 1, 9, 10, 12_345, 16_384, 9_876_543_210, u64::MAX] {
                let own = literal(b"content-length", length.to_string().as_bytes(), in_code);
                let block = [&head[..], &own].concat();
                let fields = read(&block).unwrap();
                assert_eq!(fields.malformed, None, "{status} {length} {in_code}");
                assert_eq!((fields.status, fields.length), (Some(status), Some(length)));
            }
        }
    }
    // RFC 7541 C.6.1, whose literals are Huffman-coded.
    let block = [
        0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b,
    ];
    assert_eq!(read(&block).unwrap().status, Some(302));
    assert_eq!(read(&[0x88]).unwrap().status, Some(200));
    assert_eq!(read(&[0x20, 0x8e]).unwrap().status, Some(500));
}

#[test]
fn what_grpc_says_of_a_call_is_read_however_it_is_spelled() {
    for in_code in [false, true] {
        let status = literal(b"grpc-status", b"14", in_code);
        let message = literal(b"grpc-message", b"try later", in_code);
        let block = [status, message].concat();
        let fields = read(&block).unwrap();
        assert_eq!(fields.grpc_status, Some(14));
        let message = fields.grpc_message.unwrap().decoded();
        assert_eq!(message.as_deref(), Some(&b"try later"[..]));
    }
    let block = literal(b"grpc-status", b"OK", false);
    assert_eq!(read(&block).unwrap().grpc_status, Some(u32::MAX));
}

#[test]
fn what_breaks_the_rules_of_http_is_found() {
    let field = |name: &[u8], value: &[u8]| literal(name, value, false);
    let status = field(b":status", b"200");
    let cases: [(&[&[u8]], &str); 11] = [
        (&[&[0x88, 0x88]], "more than one :status"),
        (&[&field(b":status", b"20")], "three digits"),
        (&[&field(b":status", b"2000")], "three digits"),
        (&[&field(b":status", b"+20")], "three digits"),
        (&[&field(b":status", b"099")], "three digits"),
        (&[&field(b"a", b"b"), &status], "behind other headers"),
        (&[&status, &field(b":path", b"/")], "only requests"),
        (&[&status, &field(b"Server", b"x")], "capital"),
        (&[&status, &field(b"connection", b"close")], "HTTP/1"),
        (&[&status, &field(b"content-length", b"-1")], "not a number"),
        (
            &[
                &field(b"content-length", b"1"),
                &field(b"content-length", b"1"),
            ],
            "more than one content-length",
        ),
    ];
    for (block, why) in cases {
        let said = read(&block.concat()).unwrap().malformed.unwrap();
        assert!(said.contains(why), "{said} instead of {why}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_a_panic() {
    let nonsense: [&[u8]; 10] = [
        &[0x80],
        &[0xbe],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0x7f],
        &[0x40, 0x05, b'a'],
        &[0x40, 0x01, b'a'],
        &[0x88, 0x20],
        &[0x21],
        &[0x3f, 0xe1, 0x1f],
        &[0x00, 0xff, 0xff, 0xff, 0xff, 0x7f],
    ];
    for block in nonsense {
        assert!(read(block).is_err(), "{block:02x?}");
    }
    for at in 0..=0xffffu32 {
        let [_, _, a, b] = at.to_be_bytes();
        let _ = read(&[a, b, 0x03, b'x', 0x84, a, b, a]);
    }
}

#[test]
fn numbers_are_written_as_they_are_read() {
    for value in [0, 1, 14, 15, 30, 31, 126, 127, 128, 300, 16_384, 65_535] {
        for prefix in [4, 5, 6, 7] {
            let mut bytes = Vec::new();
            put_integer(value, prefix, 0, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(integer(&mut rest, prefix), Ok(value as u32));
            assert!(rest.is_empty());
        }
    }
    // RFC 7541 C.1.2.
    let mut bytes = Vec::new();
    put_integer(1337, 5, 0, &mut bytes);
    assert_eq!(bytes, [31, 154, 10]);
}

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
        let coded = huffman_encode(text);
        let as_hex: String = coded.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(as_hex, hex);
        assert_eq!(huffman_decode(&coded).as_deref(), Some(text));
    }
    let printable: Vec<u8> = (b' '..=b'~').collect();
    assert_eq!(huffman_decode(&huffman_encode(&printable)), Some(printable));
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
        assert_eq!(huffman_decode(nonsense), None, "{nonsense:02x?}");
    }
    assert_eq!(huffman_decode(&[]), Some(Vec::new()));
}
