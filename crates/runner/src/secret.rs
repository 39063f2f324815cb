//! What a user types may hold a password; what is shown and recorded must not.

use deadheat_model::{LoadSpec, load::Exchange};

/// What stands for a secret.
pub const HIDDEN: &str = "…";

/// Request headers without secrets, in lower case. Any other may hold one: who knows what a service calls its own?
const HARMLESS_HEADERS: [&str; 22] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "pragma",
    "range",
    "te",
    "upgrade",
    "user-agent",
];

/// A parameter of a query is a secret if its name has one of these in it, …
const SECRET_PARTS: [&str; 8] = [
    "apikey",
    "api_key",
    "credential",
    "passw",
    "secret",
    "session",
    "signature",
    "token",
];
/// … or one of these as a word: `key` is meant, `keyboard` is not.
const SECRET_WORDS: [&str; 8] = ["auth", "jwt", "key", "otp", "pass", "pwd", "sid", "sig"];

/// An argument as it may be recorded and shown: of a URL only the scheme, because a password can stand in several places
/// of it; of a path its query without secrets.
pub fn without_password(argument: &str) -> String {
    match argument.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://{HIDDEN}"),
        None => without_secret_values(argument),
    }
}

/// A request header's value as it may be shown and recorded.
pub fn header_value<'a>(name: &str, value: &'a str) -> &'a str {
    if HARMLESS_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        value
    } else {
        HIDDEN
    }
}

/// A URL, or its path and query, as it may be shown and recorded: where it leads to can be seen, and values of its
/// query whose names are those of secrets cannot.
pub fn without_secret_values(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let parts: Vec<String> = query.split('&').map(parameter).collect();
    format!("{path}?{}", parts.join("&"))
}

/// Makes a load such as may be recorded: without secrets in its requests, and without the client's private key.
pub fn hide_in_load(load: &mut LoadSpec) {
    hide_in_requests(&mut load.exchanges);
    for target in std::iter::once(&mut load.target).chain(&mut load.others) {
        if let Some(login) = target.proxy.as_mut().and_then(|proxy| proxy.login.as_mut()) {
            login.password.clear();
        }
        let tls = target.tls.as_mut();
        if let Some(identity) = tls.and_then(|tls| tls.identity.as_mut()) {
            identity.key.clear();
        }
    }
}

/// Makes requests such as may be recorded: without secrets in queries and headers.
pub fn hide_in_requests(exchanges: &mut [Exchange]) {
    for exchange in exchanges {
        let request = &mut exchange.request;
        request.path = without_secret_values(&request.path);
        for (name, value) in &mut request.headers {
            *value = header_value(name, value).to_owned();
        }
    }
}

fn parameter(text: &str) -> String {
    match text.split_once('=') {
        // A template's value is made up for each request; what stands there is no secret.
        Some((name, value)) if is_secret(name) && !value.starts_with("{{") => {
            format!("{name}={HIDDEN}")
        }
        _ => text.to_owned(),
    }
}

fn is_secret(name: &str) -> bool {
    let mut spaced = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        // apiKey and API-Key have the same words.
        if !letter.is_alphanumeric() || (after_small && letter.is_uppercase()) {
            spaced.push('_');
        }
        if letter.is_alphanumeric() {
            spaced.extend(letter.to_lowercase());
        }
        after_small = letter.is_lowercase();
    }
    SECRET_PARTS.iter().any(|part| spaced.contains(part))
        || spaced.split('_').any(|word| SECRET_WORDS.contains(&word))
}

/// A text in which no URL has a user or a password.
pub fn without_userinfo(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        shown += before;
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>".contains(c);
        let (url, after) = url.split_at(url.find(ends).unwrap_or(url.len()));
        shown += &url_without_userinfo(url);
        rest = after;
    }
    shown + rest
}

/// What was typed for a URL, whether it is one or not, without what might be a password.
pub fn typed_without_userinfo(text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, url)) => format!("{scheme}://{}", url_without_userinfo(url)),
        None => match text.rsplit_once('@') {
            Some((_, host)) => format!("{HIDDEN}@{host}"),
            None => text.to_owned(),
        },
    }
}

/// The same of what follows the scheme.
fn url_without_userinfo(url: &str) -> String {
    let end = url.find(['/', '?', '#', '\\']).unwrap_or(url.len());
    let is_host = |authority: &str| {
        let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
        authority.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit())
    };
    let from = match url[..end].rfind('@') {
        // An @ in a path is none of a user, unless a password with a slash in it made that path.
        None if is_host(&url[..end]) => None,
        None => url.rfind('@'),
        found => found,
    };
    match from {
        Some(at) => format!("{HIDDEN}{}", &url[at..]),
        None => url.to_owned(),
    }
}

/// The passwords of the URLs among the values of an environment.
pub fn passwords(env: &[(String, String)]) -> Vec<String> {
    let password = |(_, value): &(String, String)| {
        let (_, url) = value.split_once("://")?;
        let (userinfo, _) = url.split('/').next()?.rsplit_once('@')?;
        let (_, password) = userinfo.split_once(':')?;
        (!password.is_empty()).then(|| password.to_owned())
    };
    env.iter().filter_map(password).collect()
}

/// A line of a log without passwords: those of URLs, and `secrets` wherever they stand.
pub fn without_secrets(line: &str, secrets: &[String]) -> String {
    secrets.iter().fold(without_userinfo(line), |line, secret| {
        line.replace(secret.as_str(), HIDDEN)
    })
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        Schedule, StopRule,
        load::{Identity, Login, Proxy, ProxyKind, Target, Tls, Trust},
    };

    use super::*;

    #[test]
    fn no_private_key_is_recorded() {
        let closed = Schedule::Closed {
            connections: 1,
            ramp: std::time::Duration::ZERO,
        };
        let mut target = Target::plain("127.0.0.1:443".parse().unwrap());
        target.proxy = Some(Proxy {
            kind: ProxyKind::Http,
            to: "h:443".to_owned(),
            login: Some(Login {
                user: "ann".to_owned(),
                password: "hunter2".to_owned(),
            }),
        });
        target.tls = Some(Tls {
            server_name: "localhost".to_owned(),
            trust: Trust::System,
            identity: Some(Identity {
                certificates: "PEM".to_owned(),
                key: "hunter2".to_owned(),
            }),
            resumption: true,
            version: None,
            cipher_suites: Vec::new(),
        });
        let mut load = LoadSpec::new(target, Vec::new(), closed, StopRule::Interrupt);
        let json = |load: &LoadSpec| serde_json::to_string(load).unwrap();
        assert!(json(&load).contains("hunter2"));
        hide_in_load(&mut load);
        let recorded = json(&load);
        assert!(
            recorded.contains("PEM") && !recorded.contains("hunter2"),
            "{recorded}"
        );
    }

    #[test]
    fn of_a_url_only_the_scheme_is_left() {
        let cases = [
            ("postgres://me:secret@host:1/db", "postgres://…"),
            (
                "--postgres=postgresql://host/db?password=s@cret",
                "--postgres=postgresql://…",
            ),
            ("--stack", "--stack"),
            ("hash:*", "hash:*"),
        ];
        for (typed, recorded) in cases {
            assert_eq!(without_password(typed), recorded);
        }
    }

    #[test]
    fn only_headers_that_hold_no_secret_are_shown() {
        for name in ["Accept", "content-type", "HOST"] {
            assert_eq!(header_value(name, "x"), "x", "{name}");
        }
        for name in [
            "Authorization",
            "Cookie",
            "X-Auth-Token",
            "apikey",
            "X",
            "Referer",
        ] {
            assert_eq!(header_value(name, "x"), HIDDEN, "{name}");
        }
    }

    #[test]
    fn values_of_a_query_are_hidden_by_the_names_of_secrets() {
        let cases = [
            ("/users?page=2&limit=50", "/users?page=2&limit=50"),
            ("/?token=abc&page=2", "/?token=…&page=2"),
            ("/?page=2&access_token=a=b", "/?page=2&access_token=…"),
            (
                "http://h/?apiKey=a&API-KEY=b&key=c",
                "http://h/?apiKey=…&API-KEY=…&key=…",
            ),
            (
                "/?X-Amz-Signature=a&X-Amz-Date=b",
                "/?X-Amz-Signature=…&X-Amz-Date=b",
            ),
            (
                "/?sessionid=a&PASSWORD=b&sid=c&auth=d",
                "/?sessionid=…&PASSWORD=…&sid=…&auth=…",
            ),
            (
                "/?keyboard=a&author=b&monkey=c&side=d",
                "/?keyboard=a&author=b&monkey=c&side=d",
            ),
            ("/?token={{line tokens.txt}}", "/?token={{line tokens.txt}}"),
            ("/?token", "/?token"),
            ("/token=abc", "/token=abc"),
        ];
        for (url, shown) in cases {
            assert_eq!(without_secret_values(url), shown);
        }
    }

    #[test]
    fn no_url_in_a_text_keeps_its_user() {
        let cases = [
            (
                "at postgres://me:pw@h:1/db, again",
                "at postgres://…@h:1/db, again",
            ),
            (
                "'http://a:b@h' and \"x://c@d\"",
                "'http://…@h' and \"x://…@d\"",
            ),
            (
                "http://h:80/@me http://h/@you",
                "http://h:80/@me http://h/@you",
            ),
            ("http://me:p/w@h/", "http://…@h/"),
            ("http://me:p?w#x@h/", "http://…@h/"),
            (r"http://me:p\w@h/", "http://…@h/"),
            (
                "http://[::1]:80/@me http://[::1]/@me",
                "http://[::1]:80/@me http://[::1]/@me",
            ),
            ("a@b, no URL", "a@b, no URL"),
        ];
        for (text, shown) in cases {
            assert_eq!(without_userinfo(text), shown);
        }
        assert_eq!(typed_without_userinfo("me:pw@host/x"), "…@host/x");
        assert_eq!(
            typed_without_userinfo("http://me:p w@host/"),
            "http://…@host/"
        );
    }

    #[test]
    fn known_secrets_are_found_wherever_they_stand() {
        let env = [
            ("DATABASE_URL", "postgresql://app:hunter2@127.0.0.1:5432/db"),
            ("UPSTREAM_URL", "http://127.0.0.1:80/"),
            ("EMPTY", "postgresql://app:@127.0.0.1/db"),
            ("CPUS", "1"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = passwords(&env);
        assert_eq!(
            without_secrets("PGPASSWORD=hunter2 x://u:p@h", &secrets),
            "PGPASSWORD=… x://…@h"
        );
    }
}
