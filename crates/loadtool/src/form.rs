//! A form as a body: multipart/form-data (RFC 7578), written like curl's -F.

use std::{
    io,
    path::{Path, PathBuf},
};

use deadheat_shell::file_errors::why_unreadable;

/// What files are, by their extension. Anything else is sent as bytes of no known type.
const TYPES: [(&str, &str); 17] = [
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];
/// The type of a file whose extension says nothing (RFC 7578 §4.4).
const UNKNOWN: &str = "application/octet-stream";
/// What comes before a part's own type and file name.
const OPTIONS: [&str; 2] = [";type=", ";filename="];

/// A field of a form as it is typed: `NAME=VALUE` or `NAME=@FILE`, and perhaps `;type=TYPE` and `;filename=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    content: Content,
    content_type: Option<String>,
    filename: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Text(String),
    File(PathBuf),
}

/// A file of a field that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{name}=@{}: {}", path.display(), why_unreadable(path, error))]
pub(crate) struct FieldError {
    name: String,
    path: PathBuf,
    error: io::Error,
}

/// Reads what is typed for a field.
pub(crate) fn field(text: &str) -> Result<Field, String> {
    let write = "write NAME=VALUE or NAME=@FILE";
    let Some((name, rest)) = text.split_once('=') else {
        return Err(format!("the = is missing; {write}"));
    };
    if name.is_empty() {
        return Err(format!("a field needs a name; {write}"));
    }
    let (value, options) = rest.split_at(next_option(rest).unwrap_or(rest.len()));
    let content = match value.strip_prefix('@') {
        Some("") => return Err(format!("no file is named after the @; {write}")),
        Some("-") => {
            return Err("standard input has no name to send: write it to a file".to_owned());
        }
        Some(file) => Content::File(file.into()),
        None => Content::Text(value.to_owned()),
    };
    let mut field = Field {
        name: name.to_owned(),
        content,
        content_type: None,
        filename: None,
    };
    let mut options = options;
    while !options.is_empty() {
        let (option, rest) =
            options.split_at(next_option(&options[1..]).map_or(options.len(), |end| end + 1));
        options = rest;
        let (place, value) = match option.split_once('=') {
            Some((";type", value)) if !is_type(value) => {
                return Err(format!(
                    "{value:?} is not a media type; write one like text/csv"
                ));
            }
            Some((";type", value)) => (&mut field.content_type, value),
            Some((_, value)) => (&mut field.filename, value),
            None => continue,
        };
        *place = Some(value.to_owned());
    }
    Ok(field)
}

fn next_option(text: &str) -> Option<usize> {
    OPTIONS.iter().filter_map(|option| text.find(option)).min()
}

fn is_type(text: &str) -> bool {
    let has_both = text
        .split_once('/')
        .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    has_both && !text.chars().any(char::is_control)
}

/// The body with these fields, and its content type. `read` reads files.
pub(crate) fn encode(
    fields: &[Field],
    read: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
) -> Result<(Vec<u8>, String), FieldError> {
    let mut parts = Vec::new();
    for field in fields {
        let content = match &field.content {
            Content::Text(text) => text.clone().into_bytes(),
            Content::File(path) => read(path).map_err(|error| FieldError {
                name: field.name.clone(),
                path: path.clone(),
                error,
            })?,
        };
        parts.push((field.head(), content));
    }
    let boundary = boundary(&parts);
    let mut body = Vec::new();
    for (head, content) in &parts {
        body.extend_from_slice(format!("--{boundary}\r\n{head}\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, format!("multipart/form-data; boundary={boundary}")))
}

/// A boundary that occurs in no part (RFC 2046 §5.1.1). The same fields always have the same one.
fn boundary(parts: &[(String, Vec<u8>)]) -> String {
    let occurs = |boundary: &str| {
        let finder = memchr::memmem::Finder::new(boundary);
        parts.iter().any(|(head, content)| {
            finder.find(head.as_bytes()).is_some() || finder.find(content).is_some()
        })
    };
    let mut boundaries = (0u64..).map(|number| format!("deadheat-form-{number}"));
    // There are more numbers than parts have bytes.
    let free = boundaries.find(|boundary| !occurs(boundary));
    free.unwrap_or_default()
}

impl Field {
    /// Its header fields, each with its CR LF.
    fn head(&self) -> String {
        let name = quoted(&self.name);
        let (filename, content_type) = match &self.content {
            Content::Text(_) => (self.filename.clone(), self.content_type.clone()),
            Content::File(path) => {
                let own = || {
                    path.file_name()
                        .map(|name| name.to_string_lossy().into_owned())
                };
                let own_type = || type_of(path).to_owned();
                (
                    self.filename.clone().or_else(own),
                    Some(self.content_type.clone().unwrap_or_else(own_type)),
                )
            }
        };
        let mut head = format!("Content-Disposition: form-data; name=\"{name}\"");
        if let Some(filename) = filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(&filename)));
        }
        head.push_str("\r\n");
        if let Some(content_type) = content_type {
            head.push_str(&format!("Content-Type: {content_type}\r\n"));
        }
        head
    }
}

fn type_of(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let known = TYPES.iter().find(|(known, _)| *known == extension);
    known.map_or(UNKNOWN, |(_, content_type)| content_type)
}

/// A name between quotation marks, as browsers write it (the HTML standard, multipart/form-data encoding algorithm).
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(fields: &[&str]) -> (String, String) {
        let fields: Vec<Field> = fields.iter().map(|text| field(text).unwrap()).collect();
        let (body, content_type) = encode(&fields, &mut |path| std::fs::read(path)).unwrap();
        (String::from_utf8(body).unwrap(), content_type)
    }

    #[test]
    fn a_form_is_that_of_the_rfc() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.CSV");
        std::fs::write(&file, "a,b\r\n").unwrap();
        let (body, content_type) = encoded(&["user=Ann=Bo", &format!("list=@{}", file.display())]);
        assert_eq!(
            content_type,
            "multipart/form-data; boundary=deadheat-form-0"
        );
        let expected = "--deadheat-form-0\r\n\
            Content-Disposition: form-data; name=\"user\"\r\n\r\nAnn=Bo\r\n\
            --deadheat-form-0\r\n\
            Content-Disposition: form-data; name=\"list\"; filename=\"list.CSV\"\r\nContent-Type: text/csv\r\n\r\n\
            a,b\r\n\r\n\
            --deadheat-form-0--\r\n";
        assert_eq!(body, expected);
    }

    #[test]
    fn types_and_file_names_can_be_given() {
        let (body, _) = encoded(&[
            "a={};type=application/json",
            "b=x;y;type=text/plain;charset=utf-8;filename=q\"q",
        ]);
        let a = "name=\"a\"\r\nContent-Type: application/json\r\n\r\n{}\r\n";
        let b = "name=\"b\"; filename=\"q%22q\"\r\nContent-Type: text/plain;charset=utf-8\r\n\r\nx;y\r\n";
        assert!(body.contains(a) && body.contains(b), "{body}");
        assert_eq!(type_of(Path::new("a/b.tar")), UNKNOWN);
        assert_eq!(type_of(Path::new("a/PNG")), UNKNOWN);
    }

    #[test]
    fn the_boundary_occurs_in_no_part() {
        let nasty = "--deadheat-form-0\r\ndeadheat-form-12";
        let (body, content_type) = encoded(&[&format!("a={nasty}")]);
        let (_, boundary) = content_type.split_once("boundary=").unwrap();
        assert_eq!(body.matches(boundary).count(), 2, "{body}");
        assert_eq!(boundary, "deadheat-form-2");
        assert!(body.contains(nasty));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, expected) in [
            ("a", "the = is missing"),
            ("=x", "needs a name"),
            ("a=@", "no file is named after the @"),
            ("a=@-", "standard input"),
            ("a=x;type=text", "not a media type"),
        ] {
            let error = field(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let fields = [field("a=@/no/such").unwrap()];
        let error = encode(&fields, &mut |path| std::fs::read(path)).unwrap_err();
        assert!(error.to_string().starts_with("a=@/no/such: "), "{error}");
    }
}
