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
    exchanges(&asked(&typed.load)?, &typed.load.request, &expect)
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
        ("POST", Body::Sized(b"x".to_vec()))
    );
    assert_eq!(
        one(&["http://h/", "-X", "PUT", "-b", ""]).body,
        Body::Sized(Vec::new())
    );
    let chunked = one(&["http://h/", "--chunked", "-b", "x", "-X", "PATCH"]);
    assert_eq!(
        (chunked.method.as_str(), chunked.body),
        ("PATCH", Body::Chunked(b"x".to_vec()))
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

fn encoded(fields: &[&str]) -> (String, String) {
    let fields: Vec<Field> = fields
        .iter()
        .map(|text| form_field(text).unwrap())
        .collect();
    let (body, content_type) = encode_form(&fields, &mut |path| std::fs::read(path)).unwrap();
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
    let b =
        "name=\"b\"; filename=\"q%22q\"\r\nContent-Type: text/plain;charset=utf-8\r\n\r\nx;y\r\n";
    assert!(body.contains(a) && body.contains(b), "{body}");
    assert_eq!(type_of(Path::new("a/b.tar")), UNKNOWN_TYPE);
    assert_eq!(type_of(Path::new("a/PNG")), UNKNOWN_TYPE);
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
        let error = form_field(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let fields = [form_field("a=@/no/such").unwrap()];
    let error = encode_form(&fields, &mut |path| std::fs::read(path)).unwrap_err();
    assert!(error.starts_with("a=@/no/such: "), "{error}");
}
