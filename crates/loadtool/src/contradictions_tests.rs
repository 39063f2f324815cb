//! Each contradiction, and what fits.

use clap::Parser;

use super::*;
use crate::url::LoadUrl;

#[derive(Debug, Parser)]
struct Typed {
    #[command(flatten)]
    load: LoadArgs,
}

fn checked(line: &str) -> Result<(), String> {
    // Blanks separate arguments, and _ stands for one in them.
    let words = line.split_whitespace().map(|word| word.replace('_', " "));
    let typed = Typed::try_parse_from(std::iter::once("load".to_owned()).chain(words));
    let typed = typed.unwrap_or_else(|error| panic!("{line}: {error}"));
    let url = LoadUrl::parse(typed.load.url.as_deref().unwrap_or("http://h/"), false);
    check(&typed.load, &[url.unwrap().origin]).map_err(|error| error.to_string())
}

#[test]
fn contradictions_are_refused_with_both_names() {
    let cases = [
        "--most-requests-per-connection 5 | --no-keepalive",
        "--most-requests-per-connection 5 | --header Connection:keep-alive",
        "--rate 5/s | --stage 1s@5/s",
        "--ramp 1s | --rate 5/s",
        "--ramp 1s | --stage 1s@5/s",
        "--threads 2 | --cpus 0",
        "--think 1s | --rate 5/s",
        "--think 1s | --stage 1s@5/s",
        "--think 1s | --pipeline 4",
        "--think 1s | --wait poll",
        "--wait poll | --rate 5/s",
        "--wait poll | --stage 1s@5/s",
        "--find-rate p99<5ms | --progress terminal",
        "--duration 1s | --requests 5",
        "--duration 1s | --until-interrupted",
        "--requests 5 | --until-interrupted",
        "--pipeline 4 | --no-keepalive",
        "--pipeline 4 | --http1.0",
        "--stream sse | --pipeline 2",
        "--stream sse | --method HEAD",
        "--body x | --body-file y",
        "--body x | --form a=b",
        "--body-file x | --form a=b",
        "--expect-body x | --expect-body-file y",
        "--expect-body x | --expect-contains y",
        "--expect-body x | --expect-json =3",
        "--expect-body-file x | --expect-contains y",
        "--expect-body-file x | --expect-json =3",
        "--expect-contains x | --expect-json =3",
        "-4 | -6",
        "--cookies | --pipeline 2",
        "--follow-redirects | --pipeline 2",
        "--most-requests-per-connection 5 | --follow-redirects",
        "--unix-socket /x | --resolve ::1",
        "--unix-socket /x | -4",
        "--all-addresses | --unix-socket /x",
        "--all-addresses | --rate 5",
        "--stream sse --stream-events 3 | --expect-body x",
        "--stream chunks | --http1.0",
        "--all-addresses | --resolve ::1",
        "--proxy http://h:1 | --unix-socket /x",
        "--proxy http://h:1 | --resolve ::1",
        "--proxy http://h:1 | --all-addresses",
        "--unix-socket /x | -6",
        "--unix-socket /x | --source ::1",
        "--insecure | --cacert x",
        "--http2 | --http2-prior-knowledge",
        "--http2 | --http1.0",
        "--http2 | --pipeline 2",
        "--http2 | --no-keepalive",
        "--http2 | --most-requests-per-connection 5",
        "--http2 | --header connection:close",
        "--http2 | --header upgrade:h2c",
        "--http2 -b x | --chunked",
        "--http2 -b x | --header Expect:100-continue",
        "--http2 | --follow-redirects",
        "--http2 | --cookies",
        "--http2 | --stream sse",
        "--http2 | --first-byte",
        "--http2 | --think 1s",
        "--http2 | --proxy socks5://h:1",
        "--grpc s/m | --proxy socks5://h:1",
        "--grpc s/m | --http1.0",
        "--grpc s/m | --no-keepalive",
        "--grpc s/m -b x | --chunked",
        "--grpc s/m | --method PUT",
        "--grpc s/m | --form a=b",
        "--grpc s/m | --urls x",
        "--grpc s/m | --expect-status 200",
        "--grpc s/m | --header grpc-encoding:gzip",
        "--grpc s/m | --header Grpc-Accept-Encoding:gzip",
    ];
    for case in cases {
        let (one, other) = case.split_once(" | ").unwrap();
        let error = checked(&format!("https://h/ {one} {other}")).unwrap_err();
        for option in [one, other] {
            let name = option.split([' ', '=']).next().unwrap();
            assert!(error.contains(name), "{case}: {error}");
        }
    }
    for (line, expected) in [
        ("--chunked --http1.0 -b x", "no chunks"),
        (
            "--pipeline 2 -H Expect:_100-continue -b x",
            "asked for the body",
        ),
        (
            "--follow-redirects -b x -H Expect:100-continue",
            "sent again",
        ),
        ("http://h/ --http2", "Use --http2-prior-knowledge"),
        ("https://h/ --http2-prior-knowledge", "Use --http2"),
        ("-m 5", "add --http2"),
        ("--cookies -H cookie:a=b", "set the Cookie header"),
        ("--cookies --proxy http://p:1", "sent whole URLs"),
        ("--follow-redirects --proxy http://p:1", "sent whole URLs"),
        ("--form a=b -H content-type:x", "names the boundary"),
        ("--pipeline 2 -H connection:_Close", "several requests"),
        (
            "--user a:b -H authorization:x",
            "set the Authorization header",
        ),
    ] {
        let error = checked(line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn what_means_nothing_alone_is_refused() {
    for (line, expected) in [
        ("--arrivals poisson", "set a --rate"),
        ("--max-connections 100", "closed loop"),
        ("--chunked", "this sends a body in chunks"),
        ("-H Expect:100-continue", "this delays a body"),
        ("--check-every 5", "needs expected content"),
        ("--stream-events 5", "--stream sse"),
        ("https://h/ --cert x", "--key"),
        ("https://h/ --key x", "--cert"),
        ("http://h/ --cacert x", "https://"),
        ("http://h/ --cert x --key y", "https://"),
        ("http://h/ --insecure", "https://"),
        ("http://h/ --server-name x", "https://"),
        ("http://h/ --no-resumption", "https://"),
        ("http://[::1]/ --all-addresses", "::1 is one address"),
        ("http://h/ --tls-version 1.2", "https://"),
        ("http://h/ --tls-ciphers TLS_AES_128_GCM_SHA256", "https://"),
        (
            "https://h/ --tls-ciphers AES128-SHA",
            "choose from TLS_AES_",
        ),
        (
            "https://h/ --tls-version 1.2 --tls-ciphers x",
            "choose from TLS_ECDHE",
        ),
        ("--body-file - --body-file -", "can be read once"),
        ("--urls x --body-file a --body-file b", "at its end"),
        (
            "--rate 5 -c 10 --max-connections 9",
            "raise --max-connections to that",
        ),
        (
            "--most-requests-per-connection 3 --pipeline 4",
            "pipeline at most 3",
        ),
        ("--stage 4s@5 --stage 3s@5 -d 6s", "the stages take 7s"),
        ("--stage 4s@5..0 -n 6", "would never end"),
        ("--stage 4s@5..0 --until-interrupted", "would never end"),
    ] {
        let error = checked(line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn several_origins_have_no_rate_and_no_fixed_address() {
    let origins = ["http://a/", "https://b/"];
    let origins = origins.map(|url| LoadUrl::parse(url, false).unwrap().origin);
    let checked = |line: &str| {
        let typed = Typed::try_parse_from(["load"].into_iter().chain(line.split(' ')));
        check(&typed.unwrap().load, &origins)
    };
    for (line, expected) in [
        ("--rate 5", "Start a load for each origin"),
        ("--stage 5s@5", "Start a load for each origin"),
        ("--find-rate p99<5ms", "Start a load for each origin"),
        ("--resolve ::1", "Omit it"),
        ("--unix-socket x", "Omit it"),
    ] {
        let error = checked(line).unwrap_err().to_string();
        assert!(
            error.contains("several origins") && error.contains(expected),
            "{error}"
        );
    }
    // What is for TLS alone has one that it is for.
    assert!(checked("--insecure --all-addresses").is_ok());
}

#[test]
fn what_fits_passes() {
    for line in [
        "http://h/",
        "--think 1s..2s --ramp 5s --wait sleep",
        "--rate 5 --arrivals poisson -c 10 --max-connections 10 -d 5s",
        "--stage 4s@5..0 -d 6s",
        "--stage 4s@0..5 -n 100",
        "--pipeline 1 --no-keepalive --http1.0",
        "--pipeline 3 --most-requests-per-connection 3",
        "--stream lines --stream-events 3 --pipeline 1 --no-keepalive",
        "-b x --chunked -H Expect:100-continue",
        "https://h/ --cert x --key y --cacert z --server-name n --no-resumption",
        "--follow-redirects --pipeline 1 --expect-status 200,304",
        "--follow-redirects --cookies --proxy socks5://p:1",
        "https://h/ --follow-redirects --cookies --proxy http://p:1",
        "--body-file a --body-file b --body-file -",
        "--urls x --chunked --body-file -",
        "http://h/ --http2-prior-knowledge -m 5 --rate 5 --template -b x",
        "http://h/ --grpc s/m -m 5 --rate 5 --template -b x --user a:b",
        "https://h --grpc s/m --http2 --find-rate p99<5ms --body-file x --expect-length 5",
        "http://h --grpc s/m --http2-prior-knowledge -H content-type:application/grpc+json",
        "https://h/ --http2 --streams 5 --insecure --find-rate p99<5ms",
        "--find-rate p99<5ms --progress off",
        "--unix-socket /x --expect-contains x --check-every 10",
    ] {
        assert_eq!(checked(line), Ok(()), "{line}");
    }
}

#[test]
fn the_tables_name_options_that_there_are() {
    let command = <Typed as clap::CommandFactory>::command();
    let options = command
        .get_arguments()
        .map(|option| match option.get_long() {
            Some(long) => format!("--{long}"),
            None => format!("-{}", option.get_short().unwrap_or_default()),
        });
    let options: Vec<String> = options.collect();
    let rows = EXCLUDE.iter().chain(NEED);
    for name in rows.flat_map(|(options, others, _)| options.iter().chain(*others)) {
        let option = name.split_whitespace().next().unwrap();
        let is_known = options.iter().any(|known| known == option);
        let is_scheme = ["http://", "https://"].contains(name);
        assert!(is_known || is_scheme, "{name}");
    }
}
