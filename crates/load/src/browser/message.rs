//! Messages of HTTP/1 as bytes that are known to be well-formed: our own requests, and heads that were read already.

/// A request in its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'a [u8],
    pub(super) target: &'a str,
    /// The rest of the first line after the target, from the blank to CR LF.
    pub(super) version: &'a [u8],
    /// The header fields, each with its CR LF, without the empty line.
    pub(super) fields: &'a [u8],
    /// The bytes after the empty line.
    pub(super) content: &'a [u8],
}

impl<'a> Request<'a> {
    /// Takes a request apart; `None` if it is none.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (line, rest) = bytes.split_at(end_of(bytes, b"\r\n")?);
        let mut blanks = (0..line.len()).filter(|at| line[*at] == b' ');
        let (first, second) = (blanks.next()?, blanks.next()?);
        // A request without fields has none but the empty line.
        let fields = if rest.starts_with(b"\r\n") {
            0
        } else {
            end_of(rest, b"\r\n\r\n")? - 2
        };
        let (fields, content) = rest.split_at(fields);
        Some(Self {
            method: &line[..first],
            target: std::str::from_utf8(&line[first + 1..second]).ok()?,
            version: &line[second..],
            fields,
            content: &content[2..],
        })
    }

    /// The value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let mut found = fields(self.fields).filter(|(other, _)| is(other, name));
        found.next().map(|(_, value)| value)
    }

    /// The path, without the query.
    pub(super) fn path(&self) -> &'a str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }
}

/// The fields of a head, without its first line.
pub(super) fn fields_of_head(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    fields(&head[end_of(head, b"\n").unwrap_or(head.len())..])
}

/// Fields by lines: name and value. What continues a folded line is left out (RFC 9112 §5.2).
fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_folded = line.starts_with(b" ") || line.starts_with(b"\t");
        (!is_folded).then(|| (&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// Whether a field's name is this one.
pub(super) fn is(name: &[u8], wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted.as_bytes())
}

/// Where the first `mark` ends.
fn end_of(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let mut places = bytes.windows(mark.len());
    Some(places.position(|place| place == mark)? + mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_parts() {
        let bytes = b"PUT /a?b HTTP/1.1\r\nHost: h\r\nX-Y:  z \r\n\r\nbo\r\n\r\ndy";
        let request = Request::parse(bytes).unwrap();
        assert_eq!((request.method, request.target), (&b"PUT"[..], "/a?b"));
        assert_eq!(
            (request.path(), request.version),
            ("/a", &b" HTTP/1.1\r\n"[..])
        );
        assert_eq!(request.fields, b"Host: h\r\nX-Y:  z \r\n");
        assert_eq!(request.content, b"bo\r\n\r\ndy");
        assert_eq!(request.field("x-y"), Some(&b"z"[..]));
        let bare = Request::parse(b"GET / HTTP/1.0\r\n\r\nx").unwrap();
        assert_eq!((bare.fields, bare.content), (&b""[..], &b"x"[..]));
        assert!(Request::parse(b"GET / HTTP/1.0\r\n").is_none());
    }

    #[test]
    fn folded_lines_are_no_fields() {
        let head = b"HTTP/1.1 200 OK: x\r\nA: 1\r\n b: 2\r\nC:3\r\n\r\n";
        let fields: Vec<_> = fields_of_head(head).collect();
        assert_eq!(fields, [(&b"A"[..], &b"1"[..]), (b"C", b"3")]);
    }
}
