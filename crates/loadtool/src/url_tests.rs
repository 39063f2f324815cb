use super::*;

fn parsed(text: &str) -> LoadUrl {
    LoadUrl::parse(text, false).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn ports_hosts_and_paths_are_completed() {
    let cases = [
        ("http://localhost", "localhost", 80, "localhost", "/"),
        (
            "http://localhost:8080/a?b=c#d",
            "localhost",
            8080,
            "localhost:8080",
            "/a?b=c",
        ),
        (
            "HTTPS://Example.COM:443/a b",
            "example.com",
            443,
            "example.com",
            "/a%20b",
        ),
        (
            "https://example.com:8443",
            "example.com",
            8443,
            "example.com:8443",
            "/",
        ),
        (
            "http://127.0.0.1:80/?x",
            "127.0.0.1",
            80,
            "127.0.0.1",
            "/?x",
        ),
        ("http://[::1]:8080/", "::1", 8080, "[::1]:8080", "/"),
        (
            "http://bücher.example/ü",
            "xn--bcher-kva.example",
            80,
            "xn--bcher-kva.example",
            "/%C3%BC",
        ),
        ("  http://a/%7B?q={1} ", "a", 80, "a", "/%7B?q={1}"),
    ];
    for (text, host, port, authority, path) in cases {
        let url = parsed(text);
        assert_eq!(url.origin.host.to_string(), host, "{text}");
        assert_eq!(url.origin.port, port, "{text}");
        assert_eq!(url.origin.authority, authority, "{text}");
        assert_eq!(url.path, path, "{text}");
        assert_eq!(
            url.origin.tls,
            text.starts_with("HTTPS") || text.starts_with("https")
        );
    }
}

#[test]
fn an_ipv6_address_may_have_a_zone_that_is_not_sent() {
    for text in [
        "http://[fe80::1%25lo]:8080/a",
        "http://[fe80::1%lo]:8080/a",
        "http://[fe80::1%251]:8080/a",
    ] {
        let url = parsed(text);
        assert_eq!(url.origin.host.to_string(), "fe80::1");
        assert_eq!((url.origin.zone, url.origin.port), (1, 8080), "{text}");
        assert_eq!(url.origin.authority, "[fe80::1]:8080");
    }
    assert_eq!(parsed("http://[::1]/%25lo").origin.zone, 0);
    let error = LoadUrl::parse("http://[fe80::1%25no-such0]/", false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"no-such0\" is not a network interface"),
        "{error}"
    );
}

#[test]
fn what_is_no_url_is_refused_with_what_to_write() {
    let cases = [
        ("localhost:8080/a", "write http://localhost:8080/a"),
        ("//host/", "write http://host/"),
        (":8080/", "write http://localhost:8080/"),
        ("h:80/?to=http://b", "write http://h:80/?to=…"),
        (":8080", "write http://localhost:8080"),
        ("8080", "write http://localhost:8080"),
        ("http://:8080/", "write http://localhost:8080/"),
        ("http:/127.0.0.1:8080/", "write http://127.0.0.1:8080/"),
        ("http:127.0.0.1:8080/", "write http://127.0.0.1:8080/"),
        ("HTTPS:/h:8443/a?b", "write https://h:8443/a?…"),
        ("http//h/", "write http://h/"),
        ("http:\\\\h/", "write http://h/"),
        ("http:8080/", "write http://localhost:8080/"),
        ("http:///a", "write http://localhost/a"),
        ("http:///h:80/a", "write http://h:80/a"),
        ("https:///127.0.0.1/", "write https://127.0.0.1/"),
        ("127.0.0.1", "write http://127.0.0.1"),
        ("127.0.0.1:80/a", "write http://127.0.0.1:80/a"),
        ("::1", "write http://[::1]/"),
        ("[::1]:80", "write http://[::1]:80"),
        ("http-server:80/", "write http://http-server:80/"),
        ("", "like http://localhost:8080/path"),
        ("/", "like http://localhost:8080/path"),
        ("?a", "like http://localhost:8080/path"),
        ("a b", "like http://localhost:8080/path"),
        ("http://", "like http://localhost:8080/path"),
        ("http:", "like http://localhost:8080/path"),
        ("https://?a", "like https://localhost:8080/path"),
        ("ftp://host/", "does not begin with http:// or https://"),
        ("http://host:99999/", "is not a URL"),
        ("http://host:0/", "port 0"),
        ("http://a b/", "is not a URL"),
        ("http://[::1/", "is not a URL"),
        ("http://1.2.3.4.5/", "is not a URL"),
    ];
    for (text, expected) in cases {
        let error = LoadUrl::parse(text, false).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        if let Some((_, advice)) = error.split_once(": write ")
            && !advice.starts_with("it ")
        {
            parsed(advice);
        }
    }
}

#[test]
fn a_user_in_the_url_is_refused_and_never_shown() {
    for text in [
        "http://me:secret@host/",
        "http://secret@host/",
        "http://:secret@host/",
        "https://me:secret@[::1",
        "ftp://me:secret@host/",
        "me:secret@host",
    ] {
        let error = LoadUrl::parse(text, false).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
    let error = LoadUrl::parse("http://me:secret@host/", false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("--user"), "{error}");
    // An @ in the path is no user.
    assert_eq!(parsed("http://host/@me").path, "/@me");
}

#[test]
fn templates_pass_through_unharmed() {
    let url = LoadUrl::parse(
        "http://h/u/{{counter}}/{{line a b?.txt}}?r={{random 1 100}}#{{x}}",
        true,
    );
    let path = "/u/{{counter}}/{{line a b?.txt}}?r={{random 1 100}}";
    assert_eq!(url.unwrap().path, path);
    for text in [
        "http://h{{counter}}/",
        "http://h:{{counter}}/",
        "http://{{line a}}/",
    ] {
        let error = LoadUrl::parse(text, true).unwrap_err().to_string();
        assert!(
            error.contains("only in the path and the query"),
            "{text}: {error}"
        );
    }
}

#[test]
fn kinds_hosts_and_users_are_read() {
    let read = |text| ProxyUrl::parse(text).unwrap();
    let plain = read("http://proxy.test:3128");
    assert_eq!(
        (plain.kind, plain.port, plain.resolves_here),
        (ProxyKind::Http, 3128, false)
    );
    assert_eq!(plain.login, None);
    assert_eq!(read("http://127.0.0.1:80/").port, 80);
    let login = read("socks5://ann:p%40w@[::1]:1080");
    assert_eq!((login.kind, login.resolves_here), (ProxyKind::Socks5, true));
    assert_eq!(login.host, Host::Address("::1".parse().unwrap()));
    let user = login.login.unwrap();
    assert_eq!((user.user.as_str(), user.password.as_str()), ("ann", "p@w"));
    assert!(!login.shown.contains("p%40w"), "{}", login.shown);
    assert!(!read("socks5h://h:1").resolves_here);
}

#[test]
fn what_is_no_proxy_is_refused_without_its_password() {
    for (text, expected) in [
        ("proxy:3128", "no scheme"),
        ("https://ann:s3cret@h:1", "TLS to the proxy"),
        ("socks4://ann:s3cret@h:1", "not spoken to"),
        ("http://ann:s3cret@h", "no port"),
        ("http://ann:s3cret@h:1/x", "no path"),
        ("http://ann:s3cret@:1", "write http://HOST:PORT"),
    ] {
        let error = ProxyUrl::parse(text).unwrap_err().to_string();
        assert!(
            error.contains(expected) && !error.contains("s3cret"),
            "{error}"
        );
    }
}

#[test]
fn weight_and_method_may_be_left_out() {
    let text =
        "# what users do\n\nhttp://h/a\n 3 http://h/b \nPOST http://h/c\n2  PUT\thttp://h/d%20e\n";
    let lines = parse_urls(text, false, None).unwrap();
    let read: Vec<(u32, Option<&str>, &str)> = lines
        .iter()
        .map(|line| (line.weight, line.method.as_deref(), line.url.path.as_str()))
        .collect();
    let expected = [
        (1, None, "/a"),
        (3, None, "/b"),
        (1, Some("POST"), "/c"),
        (2, Some("PUT"), "/d%20e"),
    ];
    assert_eq!(read, expected);
}

#[test]
fn a_line_can_name_a_body() {
    let text = "POST http://h/a @b c.json\nhttp://h/@me\t@/x/@y\nhttp://h/@me\n";
    let lines = parse_urls(text, false, None).unwrap();
    let read: Vec<(&str, Option<&Path>)> = lines
        .iter()
        .map(|line| (line.url.path.as_str(), line.body.as_deref()))
        .collect();
    let expected = [
        ("/a", Some(Path::new("b c.json"))),
        ("/@me", Some(Path::new("/x/@y"))),
        ("/@me", None),
    ];
    assert_eq!(read, expected);
}

#[test]
fn paths_are_those_of_a_known_origin() {
    let origin = LoadUrl::parse("https://h:8443/", false).unwrap().origin;
    let text = "/a\n3 /b%20c\n2 PUT /d?e=1\nhttps://h:8443/f\n";
    let lines = parse_urls(text, false, Some(&origin)).unwrap();
    let paths: Vec<&str> = lines.iter().map(|line| line.url.path.as_str()).collect();
    assert_eq!(paths, ["/a", "/b%20c", "/d?e=1", "/f"]);
    assert!(lines.iter().all(|line| line.url.origin == origin));
    assert_eq!(
        (lines[1].weight, lines[2].method.as_deref()),
        (3, Some("PUT"))
    );
    let error = parse_urls("/a\nhttp://h/\n", false, Some(&origin))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2: http://h is another origin than https://h:8443"),
        "{error}"
    );
}

#[test]
fn mistakes_have_their_line() {
    let cases = [
        ("", "it contains no URL"),
        ("# nothing\n\n", "it contains no URL"),
        ("http://h/\n0 http://h/", ", line 2: the weight \"0\""),
        ("1.5 http://h/", ", line 1: the weight \"1.5\""),
        ("99999999999 http://h/", ", line 1: the weight"),
        ("http://h/ @", ", line 1: no file is named after the @"),
        ("-1 http://h/", ", line 1: the weight \"-1\""),
        ("+1 http://h/", ", line 1: the weight \"+1\""),
        ("127.0.0.1 - - http://h/", ", line 1: the weight"),
        ("GET", ", line 1: \"GET\" has no scheme"),
        ("http://h/\n\n/path", ", line 3: \"/path\" is a path"),
        (
            "http://h/a b",
            ", line 1: \"b\" after \"http://h/a\": expected",
        ),
        ("GET http://h/a HTTP/1.1", ", line 1: \"HTTP/1.1\" after"),
        ("http://h/a # it", ", line 1: \"# it\" after"),
        ("http://h/a 3", ", line 1: \"3\" after"),
        ("curl http://h/", ", line 1: \"http://h/\" after \"curl\""),
        ("get http://h/", ", line 1: \"http://h/\" after \"get\""),
        ("http://h/\0", ", line 1: a control character"),
        ("GET http://h/\n@/x", ", line 2: "),
        ("Accept: x", ", line 1: \"x\" after \"Accept:\""),
    ];
    for (text, expected) in cases {
        let error = parse_urls(text, false, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let origin = LoadUrl::parse("http://h/", false).unwrap().origin;
    for (text, expected) in [
        ("/\nGET /a HTTP/1.1", ", line 2: \"HTTP/1.1\" after \"/a\""),
        ("-1 /a", ", line 1: the weight \"-1\""),
        ("/a b", ", line 1: \"b\" after \"/a\""),
        ("a", ", line 1: \"a\" is neither a URL nor a path"),
        ("GET a", ", line 1: \"a\" is neither"),
        ("* /a", ", line 1: \"/a\" after \"*\""),
    ] {
        let error = parse_urls(text, false, Some(&origin))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn templates_may_have_blanks() {
    let text = "2 GET http://h/{{random 1 9}} @b c\n";
    let lines = parse_urls(text, true, None).unwrap();
    assert_eq!(lines[0].url.path, "/{{random 1 9}}");
    assert_eq!(lines[0].body.as_deref(), Some(Path::new("b c")));
    assert_eq!(lines[0].method.as_deref(), Some("GET"));
}
