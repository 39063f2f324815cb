//! `deadheat load --proxy`: by every kind of proxy, and never to somebody else's server.

use deadheat_testkit::{
    Authority, CertificateKind, Listen, ProxyServer, TlsServer, Turn,
    answers::{hello, send},
};

use crate::load::{Loading, hello_server, json};

#[test]
fn a_proxy_leads_to_the_server_and_no_password_is_shown_or_recorded() {
    let loading = Loading::new();
    let authority = Authority::new().unwrap();
    loading.root.write("ca.pem", authority.pem());
    for (scheme, login, asked) in [
        ("http", "", "CONNECT localhost:PORT"),
        (
            "http",
            "ann:s3cret@",
            "CONNECT localhost:PORT Basic YW5uOnMzY3JldA==",
        ),
        ("socks5", "", "SOCKS 127.0.0.1:PORT"),
        ("socks5h", "ann:s3cret@", "SOCKS localhost:PORT ann:s3cret"),
    ] {
        let tls = TlsServer::new(authority.server(CertificateKind::Localhost).unwrap()).unwrap();
        let listen = Listen::ipv4().unwrap().over_tls(tls);
        let server = listen.serve(|_: &Turn<'_>| send(hello())).unwrap();
        let user = (!login.is_empty()).then_some(("ann", "s3cret"));
        let proxy = ProxyServer::start(server.address(), user).unwrap();
        let port = server.address().port();
        let url = format!("https://localhost:{port}/");
        let through = format!("{scheme}://{login}{}", proxy.address());
        let args = [
            "--proxy", &through, "--cacert", "ca.pem", "-4", "-n", "9", "-c", "1", "--json",
        ];
        let ended = loading.run(&url, &args).exits(0);
        assert_eq!(proxy.asked(), [asked.replace("PORT", &port.to_string())]);
        assert_eq!(server.seen_at_rest().requests, 9);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!told.contains("s3cret"), "{told}");
        assert!(json(&ended)["spec"]["target"]["proxy"]["to"].is_string());
    }
}

#[test]
fn plain_requests_have_the_whole_url() {
    let loading = Loading::new();
    let proxy = hello_server();
    let through = format!("http://ann:s3cret@{}", proxy.address());
    let args = ["--proxy", &through, "-n", "4", "-c", "1"];
    loading
        .run("http://127.0.0.1:81/a?b=1", &args)
        .exits(0)
        .tells(&["the proxy http://", "on the way to 127.0.0.1:81"]);
    let request = &proxy.seen_at_rest().first[0];
    assert_eq!(request.path, "http://127.0.0.1:81/a?b=1");
    assert_eq!(request.header("host"), Some("127.0.0.1:81"));
    assert!(request.header("proxy-authorization").is_some());
}

#[test]
fn the_environment_names_no_proxy() {
    let loading = Loading::new();
    let (server, proxy) = (hello_server(), hello_server());
    let url = format!("http://{}/", server.address());
    let through = format!("http://{}", proxy.address());
    let mut command = loading.command(&url, &["-n", "3", "-c", "1"]);
    command
        .env("http_proxy", &through)
        .env("ALL_PROXY", &through);
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(server.seen_at_rest().requests, 3);
    assert_eq!(proxy.seen_at_rest().requests, 0);
}

#[test]
fn both_the_proxy_and_the_server_must_be_such_as_may_be_loaded() {
    let loading = Loading::new();
    for (url, proxy, expected) in [
        (
            "http://127.0.0.1:1/",
            "http://192.0.2.1:1",
            "192.0.2.1 is neither",
        ),
        (
            "http://192.0.2.1:1/",
            "http://127.0.0.1:1",
            "192.0.2.1 is neither",
        ),
        (
            "http://no.such.name.invalid/",
            "socks5h://127.0.0.1:1",
            "--i-may-load-this-host",
        ),
        (
            "http://127.0.0.1:1/",
            "https://127.0.0.1:1",
            "TLS to the proxy",
        ),
        ("http://127.0.0.1:1/", "127.0.0.1:1", "no scheme"),
    ] {
        loading
            .run(url, &["--proxy", proxy, "--dry-run"])
            .exits(2)
            .tells(&[expected]);
    }
}
