//! What is sent: requests with their bodies, from options, forms (multipart/form-data, RFC 7578, written like curl's -F)
//! and the file of URLs.

use std::{
    io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::load::{
    Body, Exchange, Expectation, HttpVersion, Protocol, RequestSpec, Reuse, StatusSet,
};
use deadheat_runner::{files, secret};

use crate::{
    options::{LoadArgs, RequestArgs},
    url::{self, LoadUrl, Origin},
    values::is_token_byte,
};

/// Methods that a line of the file of URLs can name and that then go without the body.
const WITHOUT_BODY: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// Where requests go, as it may be shown, and what is asked for there.
#[derive(Debug)]
pub(crate) struct RequestPlan {
    /// The URL, without secrets, or the file of URLs, as it was typed.
    pub(crate) typed: String,
    /// Where requests go, each once.
    pub(crate) origins: Vec<Origin>,
    /// The requests: weight, method and body of their own, path.
    pub(crate) lines: Vec<url::UrlLine>,
}

/// Reads the URL or the file of URLs.
pub(crate) fn asked(args: &LoadArgs) -> Result<RequestPlan, String> {
    let template = args.request.template;
    match (&args.url, &args.request.urls) {
        (Some(text), None) => {
            let mut url = LoadUrl::parse(text, template)?;
            let mut typed = secret::without_secret_values(text.trim());
            if let Some(method) = &args.request.grpc {
                if url.path != "/" {
                    return Err(format!(
                        "a URL and --grpc: the option names the path; omit {} from the URL",
                        secret::without_secret_values(&url.path)
                    ));
                }
                url.path.clone_from(method);
                typed = format!("{}{method}", url.origin.shown());
            }
            Ok(RequestPlan {
                typed,
                origins: vec![url.origin.clone()],
                lines: vec![url::UrlLine {
                    weight: 1,
                    method: None,
                    url,
                    body: None,
                }],
            })
        }
        (None, Some(path)) => {
            let lines = url::read_urls_file(path, template, None)?;
            Ok(RequestPlan {
                typed: path.display().to_string(),
                origins: origins(&lines),
                lines,
            })
        }
        (Some(text), Some(path)) => {
            let url = LoadUrl::parse(text, false)?;
            if url.path != "/" {
                return Err(format!(
                    "a URL and --urls: the file names the paths; omit {} from the URL",
                    secret::without_secret_values(&url.path)
                ));
            }
            Ok(RequestPlan {
                typed: format!("{} {}", url.origin.shown(), path.display()),
                lines: url::read_urls_file(path, template, Some(&url.origin))?,
                origins: vec![url.origin],
            })
        }
        (None, None) => Err(
            "no URL: name one, like http://localhost:8080/, or a file of URLs with --urls"
                .to_owned(),
        ),
    }
}

/// The origins of the lines, in their order.
fn origins(lines: &[url::UrlLine]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for line in lines {
        if !origins.contains(&line.url.origin) {
            origins.push(line.url.origin.clone());
        }
    }
    origins
}

/// The requests with what is expected of their answers.
pub(crate) fn exchanges(
    asked: &RequestPlan,
    args: &RequestArgs,
    expect: &Expectation,
) -> Result<Vec<Exchange>, String> {
    let mut bodies = Bodies::new(match args.grpc {
        Some(_) => Body::Call,
        None if args.chunked => Body::Chunked,
        None => Body::Sized,
    });
    let of_options = bodies.of_options(args)?;
    let mut headers = args.headers.clone();
    if let Some(user) = &args.user {
        headers.push(basic(user)?);
    }
    let exchange = |line: &url::UrlLine, sent: Option<Sent>| {
        let default = match (&args.method, &sent) {
            (Some(method), _) => method.as_str(),
            (None, None) => "GET",
            (None, Some(_)) => "POST",
        };
        let content_type = sent.as_ref().and_then(|sent| sent.content_type.clone());
        let content_type = content_type.map(|value| ("Content-Type".to_owned(), value));
        let request = RequestSpec {
            method: method(line.method.as_deref().unwrap_or(default))?,
            path: line.url.path.clone(),
            headers: headers.iter().cloned().chain(content_type).collect(),
            body: sent.map_or(Body::None, |sent| sent.body),
            template: args.template,
        };
        if request.method == "HEAD" && (expect.length.is_some() || expect.content.is_some()) {
            return Err(
                "HEAD is answered without a body, so there is none to expect anything of: leave --expect-length, \
                 --expect-body and the like out"
                    .to_owned(),
            );
        }
        let mut exchange = Exchange::new(request, expect.clone());
        if args.grpc.is_some() {
            exchange.expect.status = StatusSet::just(200);
        }
        exchange.weight = line.weight;
        let mut origins = asked.origins.iter();
        exchange.target = origins
            .position(|origin| *origin == line.url.origin)
            .unwrap_or_default();
        Ok(exchange)
    };
    let mut exchanges = Vec::new();
    for line in &asked.lines {
        if let Some(path) = &line.body {
            let sent = bodies.of_file(path);
            let sent = sent.map_err(|error| format!("--urls, @{}: {error}", path.display()))?;
            exchanges.push(exchange(line, Some(sent))?);
            continue;
        }
        let own = line.method.as_deref();
        let goes_without = own.is_some_and(|method| WITHOUT_BODY.contains(&method));
        if goes_without || of_options.is_empty() {
            exchanges.push(exchange(line, None)?);
        } else {
            for sent in &of_options {
                exchanges.push(exchange(line, Some(sent.clone()))?);
            }
        }
    }
    let wanted_by = [
        ("--chunked", args.chunked),
        (
            "--header 'Expect: 100-continue'",
            has_word(&headers, "expect", "100-continue"),
        ),
    ];
    if let Some((option, _)) = wanted_by.into_iter().find(|(_, given)| *given)
        && exchanges.iter().all(|one| one.request.body == Body::None)
    {
        return Err(format!(
            "{option}: no request has a body; set one with --body or --body-file, or as @FILE at the end of a line of \
             --urls"
        ));
    }
    Ok(exchanges)
}

/// How requests travel.
pub(crate) fn protocol(args: &RequestArgs) -> Protocol {
    if args.http2 || args.http2_prior_knowledge || args.grpc.is_some() {
        return Protocol::Http2 {
            streams: args.streams.unwrap_or(1),
        };
    }
    Protocol::Http1 {
        version: if args.http1_0 {
            HttpVersion::Http10
        } else {
            HttpVersion::Http11
        },
        reuse: if args.no_keepalive {
            Reuse::PerRequest
        } else {
            Reuse::KeepAlive
        },
        pipeline: args.pipeline.unwrap_or(1),
    }
}

fn method(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && text.bytes().all(is_token_byte);
    if !is_word {
        return Err(format!(
            "{text:?} is not an HTTP method; write one like GET or POST"
        ));
    }
    if text == "CONNECT" {
        return Err(
            "CONNECT opens a tunnel, whose answers have no end: choose another method".to_owned(),
        );
    }
    // Methods are case-sensitive (RFC 9110 §9.1), and a server has no "get".
    let upper = text.to_ascii_uppercase();
    if text != upper
        && ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].contains(&upper.as_str())
    {
        return Err(format!(
            "{text:?} is another method than {upper}: write {upper}"
        ));
    }
    Ok(text.to_owned())
}

/// Basic authentication (RFC 7617).
fn basic(user: &str) -> Result<(String, String), String> {
    if !user.contains(':') {
        return Err("--user: write USER:PASSWORD; an empty password is USER:".to_owned());
    }
    if user.chars().any(char::is_control) {
        return Err(
            "--user: a control character can stand in neither user nor password".to_owned(),
        );
    }
    let value = format!("Basic {}", STANDARD.encode(user));
    Ok(("Authorization".to_owned(), value))
}

/// Whether a header of this name has this word among its values.
pub(crate) fn has_word(headers: &[(String, String)], name: &str, word: &str) -> bool {
    headers.iter().any(|(other, value)| {
        let mut words = value.split(',').map(str::trim);
        other.eq_ignore_ascii_case(name) && words.any(|one| one.eq_ignore_ascii_case(word))
    })
}

/// A body, and the type that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) body: Body,
    /// The value of `Content-Type`, if it follows from the body.
    pub(crate) content_type: Option<String>,
}

/// Reads bodies, and keeps count of what all of them take together.
#[derive(Debug)]
pub(crate) struct Bodies {
    left: u64,
    framing: fn(Vec<u8>) -> Body,
}

impl Bodies {
    /// Reads bodies that are sent in this framing.
    pub(crate) fn new(framing: fn(Vec<u8>) -> Body) -> Self {
        Self {
            left: files::LONGEST_BODY,
            framing,
        }
    }

    /// The bodies of the options, to be sent in turn. The list is empty without any; a gRPC call always has a message,
    /// which may be empty.
    fn of_options(&mut self, args: &RequestArgs) -> Result<Vec<Sent>, String> {
        if let Some(text) = &args.body {
            return Ok(vec![self.sent(text.clone().into_bytes(), None)]);
        }
        if !args.form.is_empty() {
            let (bytes, content_type) = encode_form(&args.form, &mut |path| self.read(path))
                .map_err(|error| format!("--form {error}"))?;
            return Ok(vec![self.sent(bytes, Some(content_type))]);
        }
        let file = |path: &PathBuf| {
            self.of_file(path)
                .map_err(|error| format!("--body-file {}: {error}", path.display()))
        };
        if args.grpc.is_some() && args.body_file.is_empty() {
            return Ok(vec![self.sent(Vec::new(), None)]);
        }
        args.body_file.iter().map(file).collect()
    }

    /// The body that a line names.
    pub(crate) fn of_file(&mut self, path: &Path) -> io::Result<Sent> {
        let bytes = self.read(path)?;
        Ok(self.sent(bytes, None))
    }

    fn sent(&self, bytes: Vec<u8>, content_type: Option<String>) -> Sent {
        Sent {
            body: (self.framing)(bytes),
            content_type,
        }
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = if path == Path::new("-") {
            files::bounded(io::stdin().lock(), files::LONGEST_BODY)
        } else {
            files::read_typed(path, files::LONGEST_BODY)
        }?;
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            io::Error::other(format!(
                "all bodies together are longer than {} MiB, which is the most that is read",
                files::LONGEST_BODY >> 20
            ))
        })?;
        Ok(bytes)
    }
}

/// What files are, by their extension. Anything else is sent as bytes of no known type.
const FILE_TYPES: [(&str, &str); 17] = [
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
const UNKNOWN_TYPE: &str = "application/octet-stream";
/// What comes before a part's own type and file name.
const FIELD_OPTIONS: [&str; 2] = [";type=", ";filename="];

/// A field of a form as it is typed: `NAME=VALUE` or `NAME=@FILE`, and perhaps `;type=TYPE` and `;filename=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    content: FieldContent,
    content_type: Option<String>,
    filename: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldContent {
    Text(String),
    File(PathBuf),
}

/// Reads what is typed for a field.
pub(crate) fn form_field(text: &str) -> Result<Field, String> {
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
        Some(file) => FieldContent::File(file.into()),
        None => FieldContent::Text(value.to_owned()),
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
    FIELD_OPTIONS
        .iter()
        .filter_map(|option| text.find(option))
        .min()
}

fn is_type(text: &str) -> bool {
    let has_both = text
        .split_once('/')
        .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    has_both && !text.chars().any(char::is_control)
}

/// The body with these fields, and its content type. `read` reads files.
fn encode_form(
    fields: &[Field],
    read: &mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
) -> Result<(Vec<u8>, String), String> {
    let mut parts = Vec::new();
    for field in fields {
        let content = match &field.content {
            FieldContent::Text(text) => text.clone().into_bytes(),
            FieldContent::File(path) => read(path)
                .map_err(|error| format!("{}=@{}: {error}", field.name, path.display()))?,
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
            FieldContent::Text(_) => (self.filename.clone(), self.content_type.clone()),
            FieldContent::File(path) => {
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
    let known = FILE_TYPES.iter().find(|(known, _)| *known == extension);
    known.map_or(UNKNOWN_TYPE, |(_, content_type)| content_type)
}

/// A name between quotation marks, as browsers write it (the HTML standard, multipart/form-data encoding algorithm).
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
