//! The requests of a load with their bodies, from options and from the file of URLs.

use std::{
    io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::load::{
    Body, Bytes, Exchange, Expectation, HttpVersion, Protocol, RequestSpec, Reuse, StatusSet,
};
use deadheat_runner::{files, secret};
use deadheat_shell::{
    exit::CommandFailure,
    file_errors::{unreadable, why_unreadable},
};

use crate::{
    form,
    options::{LoadArgs, RequestArgs},
    url::{self, LoadUrl, Origin},
    values::is_token_byte,
};

/// Methods whose requests have no body if a line of the file of URLs names them.
const WITHOUT_BODY: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// The origins and requests of a load, and the URL as it may be shown.
#[derive(Debug)]
pub(crate) struct RequestPlan {
    /// The URL, without secrets, or the file of URLs, as it was typed.
    pub(crate) typed: String,
    /// The origins of the requests, each once.
    pub(crate) origins: Vec<Origin>,
    /// The requests: each with its weight, method, path and body.
    pub(crate) lines: Vec<url::UrlLine>,
}

/// Reads the URL or the file of URLs.
pub(crate) fn asked(args: &LoadArgs) -> Result<RequestPlan, CommandFailure> {
    let template = args.request.template;
    match (&args.url, &args.request.urls) {
        (Some(text), None) => {
            let mut url = LoadUrl::parse(text, template).map_err(CommandFailure::usage)?;
            let mut typed = secret::without_secret_values(text.trim());
            if let Some(method) = &args.request.grpc {
                if url.path != "/" {
                    return Err(CommandFailure::usage(format!(
                        "a URL and --grpc: the option names the path; omit {} from the URL",
                        secret::without_secret_values(&url.path)
                    )));
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
            let url = LoadUrl::parse(text, false).map_err(CommandFailure::usage)?;
            if url.path != "/" {
                return Err(CommandFailure::usage(format!(
                    "a URL and --urls: the file names the paths; omit {} from the URL",
                    secret::without_secret_values(&url.path)
                )));
            }
            Ok(RequestPlan {
                typed: format!("{} {}", url.origin.shown(), path.display()),
                lines: url::read_urls_file(path, template, Some(&url.origin))?,
                origins: vec![url.origin],
            })
        }
        (None, None) => Err(CommandFailure::usage(
            "no URL: name one, like http://localhost:8080/, or a file of URLs with --urls",
        )),
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

/// The requests with the expectations of their answers.
pub(crate) fn exchanges(
    asked: &RequestPlan,
    args: &RequestArgs,
    expect: &Expectation,
) -> Result<Vec<Exchange>, CommandFailure> {
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
    let exchange = |line: &url::UrlLine, sent: Option<RequestBody>| {
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
            return Err(CommandFailure::usage(
                "HEAD is answered without a body, so there is none to expect anything of: leave --expect-length, \
                 --expect-body and the like out",
            ));
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
            let sent = bodies.of_file(path).map_err(|error| {
                let why = why_unreadable(path, &error);
                CommandFailure::usage(format!("--urls, @{}: {why}", path.display()))
            })?;
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
        return Err(CommandFailure::usage(format!(
            "{option}: no request has a body; set one with --body or --body-file, or as @FILE at the end of a line of \
             --urls"
        )));
    }
    Ok(exchanges)
}

/// The protocol of the requests.
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

fn method(text: &str) -> Result<String, CommandFailure> {
    let is_word = !text.is_empty() && text.bytes().all(is_token_byte);
    if !is_word {
        return Err(CommandFailure::usage(format!(
            "{text:?} is not an HTTP method; write one like GET or POST"
        )));
    }
    if text == "CONNECT" {
        return Err(CommandFailure::usage(
            "CONNECT opens a tunnel, whose answers have no end: choose another method",
        ));
    }
    // Methods are case-sensitive (RFC 9110 §9.1), and a server has no "get".
    let upper = text.to_ascii_uppercase();
    if text != upper
        && ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].contains(&upper.as_str())
    {
        return Err(CommandFailure::usage(format!(
            "{text:?} is another method than {upper}: write {upper}"
        )));
    }
    Ok(text.to_owned())
}

/// Basic authentication (RFC 7617).
fn basic(user: &str) -> Result<(String, String), CommandFailure> {
    if !user.contains(':') {
        return Err(CommandFailure::usage(
            "--user: write USER:PASSWORD; an empty password is USER:",
        ));
    }
    if user.chars().any(char::is_control) {
        return Err(CommandFailure::usage(
            "--user: a control character can stand in neither user nor password",
        ));
    }
    let value = format!("Basic {}", STANDARD.encode(user));
    Ok(("Authorization".to_owned(), value))
}

/// Whether a header with this name has this word in its comma-separated values.
pub(crate) fn has_word(headers: &[(String, String)], name: &str, word: &str) -> bool {
    headers.iter().any(|(other, value)| {
        let mut words = value.split(',').map(str::trim);
        other.eq_ignore_ascii_case(name) && words.any(|one| one.eq_ignore_ascii_case(word))
    })
}

/// A body and its content type.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    pub(crate) body: Body,
    /// The value of `Content-Type`, if it follows from the body.
    pub(crate) content_type: Option<String>,
}

/// Reads bodies, and limits their total size.
#[derive(Debug)]
pub(crate) struct Bodies {
    left: u64,
    framing: fn(Bytes) -> Body,
}

impl Bodies {
    /// A reader of bodies that are sent in this framing.
    pub(crate) fn new(framing: fn(Bytes) -> Body) -> Self {
        Self {
            left: files::LONGEST_BODY,
            framing,
        }
    }

    /// The bodies of the options, to be sent in turn. The list is empty without any; a gRPC call always has a message,
    /// which may be empty.
    pub(crate) fn of_options(
        &mut self,
        args: &RequestArgs,
    ) -> Result<Vec<RequestBody>, CommandFailure> {
        if let Some(text) = &args.body {
            return Ok(vec![self.sent(text.clone().into_bytes(), None)]);
        }
        if !args.form.is_empty() {
            let (bytes, content_type) = form::encode(&args.form, &mut |path| self.read(path))
                .map_err(|error| CommandFailure::usage(format!("--form {error}")))?;
            return Ok(vec![self.sent(bytes, Some(content_type))]);
        }
        let file = |path: &PathBuf| {
            self.of_file(path)
                .map_err(|error| unreadable("--body-file", path, &error))
        };
        if args.grpc.is_some() && args.body_file.is_empty() {
            return Ok(vec![self.sent(Vec::new(), None)]);
        }
        args.body_file.iter().map(file).collect()
    }

    /// The body that a line names.
    pub(crate) fn of_file(&mut self, path: &Path) -> io::Result<RequestBody> {
        let bytes = self.read(path)?;
        Ok(self.sent(bytes, None))
    }

    fn sent(&self, bytes: Vec<u8>, content_type: Option<String>) -> RequestBody {
        RequestBody {
            body: (self.framing)(bytes.into()),
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        load: LoadArgs,
    }

    fn sent(args: &[&str]) -> Result<Vec<Exchange>, String> {
        let typed = Typed::try_parse_from([&["load"], args].concat());
        let typed = typed.map_err(|error| error.to_string())?;
        let expect = Expectation {
            status: StatusSet::success(),
            length: typed.load.answer.expect_length,
            content: None,
        };
        let sent =
            asked(&typed.load).and_then(|asked| exchanges(&asked, &typed.load.request, &expect));
        sent.map_err(|error| error.to_string())
    }

    fn one(args: &[&str]) -> RequestSpec {
        let mut sent = sent(args).unwrap();
        assert_eq!(sent.len(), 1);
        sent.remove(0).request
    }

    #[test]
    fn the_method_follows_the_body_unless_it_is_given() {
        assert_eq!(one(&["http://h/"]).method, "GET");
        let post = one(&["http://h/", "-b", "x"]);
        assert_eq!(
            (post.method.as_str(), post.body),
            ("POST", Body::Sized(b"x".to_vec().into()))
        );
        assert_eq!(
            one(&["http://h/", "-X", "PUT", "-b", ""]).body,
            Body::Sized(Vec::new().into())
        );
        let chunked = one(&["http://h/", "--chunked", "-b", "x", "-X", "PATCH"]);
        assert_eq!(
            (chunked.method.as_str(), chunked.body),
            ("PATCH", Body::Chunked(b"x".to_vec().into()))
        );
        for (method, expected) in [
            ("get", "write GET"),
            ("", "not an HTTP method"),
            ("G T", "not an HTTP method"),
            ("CONNECT", "tunnel"),
        ] {
            let error = sent(&["http://h/", "-X", method]).unwrap_err();
            assert!(error.contains(expected), "{method}: {error}");
        }
        assert_eq!(one(&["http://h/", "-X", "purge"]).method, "purge");
    }

    #[test]
    fn headers_are_kept_in_order() {
        let request = one(&[
            "http://h/",
            "-H",
            "A: 1",
            "-H",
            "a:2 : 3",
            "-H",
            "Host: x",
            "-H",
            "Empty:",
        ]);
        let expected = [("A", "1"), ("a", "2 : 3"), ("Host", "x"), ("Empty", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(request.headers, expected);
    }

    #[test]
    fn basic_authentication_is_that_of_the_rfc() {
        // The example of RFC 7617 §2.
        let request = one(&["http://h/", "--user", "Aladdin:open sesame"]);
        let expected = (
            "Authorization".to_owned(),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned(),
        );
        assert_eq!(request.headers, [expected]);
        let error = sent(&["http://h/", "--user", "secret"]).unwrap_err();
        assert!(
            error.contains("USER:PASSWORD") && !error.contains("secret"),
            "{error}"
        );
        assert!(basic("a:b\n").is_err());
    }

    #[test]
    fn a_file_of_urls_has_methods_weights_and_the_body() {
        use std::io::Write as _;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"http://h/a\n3 GET http://h/b\nPUT http://h/c\n")
            .unwrap();
        let path = file.path().display().to_string();
        let sent = sent(&["--urls", &path, "-b", "x"]).unwrap();
        let seen: Vec<_> = sent
            .iter()
            .map(|one| {
                (
                    one.weight,
                    one.request.method.as_str(),
                    one.request.body == Body::None,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [(1, "POST", false), (3, "GET", true), (1, "PUT", false)]
        );
    }

    #[test]
    fn there_is_one_source_of_urls() {
        assert!(sent(&[]).unwrap_err().contains("no URL: name one"));
        assert!(
            sent(&["http://h/a", "--urls", "x"])
                .unwrap_err()
                .contains("from the URL")
        );
        assert!(
            sent(&["--urls", "/no/such"])
                .unwrap_err()
                .contains("reading /no/such")
        );
        let error = sent(&["http://h/", "--body-file", "/no/such"]).unwrap_err();
        assert!(error.contains("--body-file /no/such"), "{error}");
        let error = sent(&["http://h/", "-X", "HEAD", "--expect-length", "3"]).unwrap_err();
        assert!(error.contains("HEAD"), "{error}");
    }

    #[test]
    fn words_are_found_in_lists_of_any_case() {
        let headers = [("Connection".to_owned(), "x, Close".to_owned())];
        assert!(has_word(&headers, "connection", "close"));
        assert!(!has_word(&headers, "connection", "clos"));
        assert!(!has_word(&headers, "expect", "close"));
    }
}
