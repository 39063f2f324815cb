use super::*;

const FORMAT: RequestFormat<'_> = RequestFormat {
    version: HttpVersion::Http11,
    reuse: Reuse::KeepAlive,
    authority: "127.0.0.1:8080",
    proxy: None,
};

fn encoded(request: &RequestSpec, format: RequestFormat<'_>) -> EncodedRequest {
    EncodedRequest::new(request, format, &Lists::default()).unwrap()
}

fn encode(request: &RequestSpec) -> String {
    String::from_utf8(encoded(request, FORMAT).fixed().unwrap().to_vec()).unwrap()
}

fn encode_any(request: &RequestSpec) -> String {
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let choice = || Choice { count: 0, seed: 0 };
    let encoded = encoded(request, FORMAT);
    encoded.append(choice, &Lists::default(), &mut scratch, &mut out);
    String::from_utf8(out).unwrap()
}

fn post(body: Body) -> RequestSpec {
    RequestSpec {
        method: "POST".to_owned(),
        headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
        body,
        ..RequestSpec::get("/x?y=1")
    }
}

#[test]
fn host_is_added_unless_given() {
    assert_eq!(
        encode(&RequestSpec::get("/")),
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
    );
    let mut own = RequestSpec::get("/");
    own.headers.push(("host".to_owned(), "example".to_owned()));
    assert_eq!(encode(&own), "GET / HTTP/1.1\r\nhost: example\r\n\r\n");
}

#[test]
fn bodies_are_framed() {
    let start = "POST /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: text/plain\r\n";
    let sized = encode(&post(Body::Sized(b"Hello".to_vec().into())));
    assert_eq!(sized, format!("{start}Content-Length: 5\r\n\r\nHello"));
    let chunked = encode(&post(Body::Chunked(b"Hello".to_vec().into())));
    let chunks = "3\r\nHel\r\n2\r\nlo\r\n0\r\n\r\n";
    assert_eq!(
        chunked,
        format!("{start}Transfer-Encoding: chunked\r\n\r\n{chunks}")
    );
    let empty = encode(&post(Body::Chunked(Vec::new().into())));
    assert_eq!(
        empty,
        format!("{start}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    );
}

#[test]
fn methods_that_define_content_have_a_length_without_a_body() {
    let line = |method: &str, headers: &[(&str, &str)], template| {
        encode_any(&RequestSpec {
            method: method.to_owned(),
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            template,
            ..RequestSpec::get("/")
        })
    };
    let start = "/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n";
    for template in [false, true] {
        for method in ["POST", "PUT", "PATCH"] {
            let expected = format!("{method} {start}Content-Length: 0\r\n\r\n");
            assert_eq!(line(method, &[], template), expected);
            let own = [("content-length", "0")];
            let expected = format!("{method} {start}content-length: 0\r\n\r\n");
            assert_eq!(line(method, &own, template), expected);
        }
        for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
            let expected = format!("{method} {start}\r\n");
            assert_eq!(line(method, &[], template), expected);
        }
    }
    assert_eq!(
        line("DELETE", &[("Content-Length", "0")], false),
        format!("DELETE {start}Content-Length: 0\r\n\r\n")
    );
    let mut own = post(Body::Sized(b"Hello".to_vec().into()));
    own.headers = vec![("Content-Length".to_owned(), "5".to_owned())];
    assert!(encode(&own).ends_with("8080\r\nContent-Length: 5\r\n\r\nHello"));
}

#[test]
fn what_would_be_misread_is_refused() {
    let with_header = |name: &str, value: &str| RequestSpec {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..RequestSpec::get("/")
    };
    let with_method = |method: &str| RequestSpec {
        method: method.to_owned(),
        ..RequestSpec::get("/")
    };
    for request in [
        RequestSpec::get(""),
        RequestSpec::get("/a b"),
        RequestSpec::get("/\r\nX: y"),
        with_method(""),
        with_method("GET /"),
        with_method("CONNECT"),
        with_header("a b", "c"),
        with_header("a", "b\r\nc: d"),
        with_header("Content-Length", "5"),
        with_header("transfer-encoding", "chunked"),
    ] {
        assert!(
            EncodedRequest::new(&request, FORMAT, &Lists::default()).is_err(),
            "{request:?}"
        );
    }
}

#[test]
fn head_and_close_are_noticed() {
    let mut request = RequestSpec::get("/");
    request.method = "HEAD".to_owned();
    request
        .headers
        .push(("Connection".to_owned(), "x, Close".to_owned()));
    let encoded = encoded(&request, FORMAT);
    assert!(encoded.is_head && encoded.closes);
    assert!(
        encoded
            .fixed()
            .unwrap()
            .starts_with(b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n")
    );
}

#[test]
fn versions_and_reuse_show_in_the_head() {
    let get = RequestSpec::get("/");
    for (version, reuse, line, closes) in [
        (
            HttpVersion::Http11,
            Reuse::KeepAlive,
            "1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
            false,
        ),
        (
            HttpVersion::Http11,
            Reuse::PerRequest,
            "1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n",
            true,
        ),
        (
            HttpVersion::Http10,
            Reuse::KeepAlive,
            "1.0\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n\r\n",
            false,
        ),
        (
            HttpVersion::Http10,
            Reuse::PerRequest,
            "1.0\r\nHost: 127.0.0.1:8080\r\n\r\n",
            true,
        ),
    ] {
        let encoded = encoded(
            &get,
            RequestFormat {
                version,
                reuse,
                ..FORMAT
            },
        );
        let bytes = String::from_utf8(encoded.fixed().unwrap().to_vec()).unwrap();
        assert_eq!(bytes, format!("GET / HTTP/{line}"));
        assert_eq!(encoded.closes, closes);
    }
    let old = RequestFormat {
        version: HttpVersion::Http10,
        ..FORMAT
    };
    let chunked = post(Body::Chunked(b"x".to_vec().into()));
    assert!(EncodedRequest::new(&chunked, old, &Lists::default()).is_err());
}

#[test]
fn a_body_that_is_asked_for_first_is_held_back() {
    let mut request = post(Body::Sized(b"Hello".to_vec().into()));
    assert_eq!(encoded(&request, FORMAT).hold_at, None);
    request
        .headers
        .push(("Expect".to_owned(), "100-Continue".to_owned()));
    let encoded = encoded(&request, FORMAT);
    let bytes = encoded.fixed().unwrap();
    assert_eq!(&bytes[encoded.hold_at.unwrap()..], b"Hello");
    request.body = Body::None;
    assert_eq!(
        self::encoded(&request, FORMAT).hold_at,
        None,
        "there is nothing to hold back"
    );
}

#[test]
fn a_template_is_filled_for_each_request() {
    let mut request = RequestSpec {
        template: true,
        ..post(Body::Sized(b"{\"n\": {{counter}}}".to_vec().into()))
    };
    request.path = "/x?n={{ counter }}".to_owned();
    request.headers[0].1 = "x/{{counter}}".to_owned();
    let encoded = encoded(&request, FORMAT);
    assert_eq!(encoded.fixed(), None);
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    for count in [7, 1_000] {
        let choice = || Choice { count, seed: 0 };
        encoded.append(choice, &Lists::default(), &mut scratch, &mut out);
    }
    let line = |count: &str, length: usize| {
        format!(
            "POST /x?n={count} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: x/{count}\r\n\
             Content-Length: {length}\r\n\r\n{{\"n\": {count}}}"
        )
    };
    assert_eq!(
        String::from_utf8(out).unwrap(),
        line("7", 8) + &line("1000", 11)
    );
}
