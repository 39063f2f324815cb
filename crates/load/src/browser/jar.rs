//! The cookies of one user on one origin (RFC 6265bis). The `cookie` crate parses them; this module decides which are
//! kept, for how long and for which requests.

use std::time::{Duration, SystemTime};

use cookie::Cookie as Parsed;

/// The longest name and value together, in bytes (RFC 6265bis §5.6).
const LONGEST: usize = 4096;
/// The longest path; a longer one counts as none (RFC 6265bis §5.6).
const LONGEST_PATH: usize = 1024;
/// The most cookies of a user, as in browsers (RFC 6265bis §6.1 asks for 50 or more). Beyond it, the oldest is dropped.
const MAX: usize = 180;

#[derive(Debug)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// When the cookie expires; `None`: not during the load.
    expires: Option<SystemTime>,
}

/// The origin and time of a `Set-Cookie`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CookieSource<'a> {
    /// The host, without its port.
    pub(super) host: &'a str,
    /// The path of the request.
    pub(super) path: &'a str,
    /// Whether it came over TLS.
    pub(super) tls: bool,
    pub(super) now: SystemTime,
}

/// The result of a `Set-Cookie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CookieOutcome {
    /// The cookie is kept, perhaps in place of another one.
    Kept,
    /// It removes a cookie.
    Removed,
    /// The cookie is refused: it is malformed or too long, for another host, or needs TLS.
    Refused,
}

/// The cookies of one user, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Jar(Vec<Cookie>);

impl Jar {
    /// Applies the value of a `Set-Cookie`.
    pub(super) fn set(&mut self, value: &[u8], from: CookieSource<'_>) -> CookieOutcome {
        let parsed = std::str::from_utf8(value).ok().map(Parsed::parse);
        let Some(Ok(parsed)) = parsed else {
            return CookieOutcome::Refused;
        };
        let (name, value) = (parsed.name(), parsed.value());
        if name.len() + value.len() > LONGEST || !is_allowed(&parsed, from) {
            return CookieOutcome::Refused;
        }
        let path = match parsed.path() {
            Some(path) if path.starts_with('/') && path.len() <= LONGEST_PATH => path.to_owned(),
            _ => default_path(from.path).to_owned(),
        };
        if path.len() > LONGEST_PATH {
            return CookieOutcome::Refused;
        }
        let place = self
            .0
            .iter()
            .position(|one| one.name == name && one.path == path);
        let expires = expires(&parsed, from.now);
        if expires.is_some_and(|at| at <= from.now) {
            if let Some(place) = place {
                self.0.remove(place);
            }
            return CookieOutcome::Removed;
        }
        if let Some(place) = place {
            // The new cookie keeps the age of the old one (RFC 6265bis §5.7).
            let one = &mut self.0[place];
            (one.value, one.expires) = (value.to_owned(), expires);
            return CookieOutcome::Kept;
        }
        self.0.retain(|one| one.lives(from.now));
        if self.0.len() == MAX {
            self.0.remove(0);
        }
        self.0.push(Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            path,
            expires,
        });
        CookieOutcome::Kept
    }

    /// Appends the `Cookie` field of a request for `path`. Returns whether there are cookies for it.
    pub(super) fn write(&self, path: &str, now: SystemTime, out: &mut Vec<u8>) -> bool {
        let fits = |one: &&Cookie| one.lives(now) && matches(path, &one.path);
        let mut sent: Vec<&Cookie> = self.0.iter().filter(fits).collect();
        // RFC 6265bis §5.8.3: longer paths first, and older cookies first.
        sent.sort_by_key(|one| std::cmp::Reverse(one.path.len()));
        for (nth, one) in sent.iter().enumerate() {
            out.extend_from_slice(if nth == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(one.name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(one.value.as_bytes());
        }
        if !sent.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
        !sent.is_empty()
    }
}

impl Cookie {
    fn lives(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|at| at > now)
    }
}

/// Whether a cookie may be set by this source (RFC 6265bis §5.7). A load has one host, so it does not matter whether
/// the cookie is also for other hosts.
fn is_allowed(cookie: &Parsed<'_>, from: CookieSource<'_>) -> bool {
    let clean = |text: &str| {
        !text
            .chars()
            .any(|one| one.is_ascii_control() && one != '\t')
    };
    let secure = cookie.secure() == Some(true);
    let domain = cookie.domain().unwrap_or_default();
    let is_ours = domain.is_empty() || covers(domain, from.host);
    let has_prefix = |prefix: &str| {
        let start = cookie.name().get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let of_prefix = (!has_prefix("__Secure-") || secure)
        && (!has_prefix("__Host-") || secure && domain.is_empty() && cookie.path() == Some("/"));
    clean(cookie.name()) && clean(cookie.value()) && is_ours && of_prefix && (!secure || from.tls)
}

/// Whether `host` is in `domain` (RFC 6265bis §5.1.3).
fn covers(domain: &str, host: &str) -> bool {
    let (domain, host) = (domain.to_ascii_lowercase(), host.to_ascii_lowercase());
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let before = host.strip_suffix(domain.trim_start_matches('.'));
    before.is_some_and(|before| before.is_empty() || before.ends_with('.') && !is_address)
}

/// When a cookie expires; `None`: not during the load. `Max-Age` takes precedence (RFC 6265bis §5.7).
fn expires(cookie: &Parsed<'_>, now: SystemTime) -> Option<SystemTime> {
    if let Some(age) = cookie.max_age() {
        let seconds = u64::try_from(age.whole_seconds()).unwrap_or(0);
        // A time beyond the range of the type is never reached.
        return now.checked_add(Duration::from_secs(seconds));
    }
    cookie.expires_datetime().map(SystemTime::from)
}

/// The path of a cookie that names none (RFC 6265bis §5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(last) if last > 0 && path.starts_with('/') => &path[..last],
        _ => "/",
    }
}

/// Whether a cookie of path `own` goes to `path` (RFC 6265bis §5.1.4).
fn matches(path: &str, own: &str) -> bool {
    path.strip_prefix(own)
        .is_some_and(|rest| rest.is_empty() || own.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
    }

    fn from(path: &str) -> CookieSource<'_> {
        CookieSource {
            host: "www.example.com",
            path,
            tls: false,
            now: at(0),
        }
    }

    fn sent(jar: &Jar, path: &str, seconds: u64) -> String {
        let mut out = Vec::new();
        jar.write(path, at(seconds), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_set_is_sent_until_it_is_removed() {
        let mut jar = Jar::default();
        assert_eq!(sent(&jar, "/", 0), "");
        for value in ["a=1", "b=\"x y\"; HttpOnly; SameSite=Lax", "a=2"] {
            assert_eq!(jar.set(value.as_bytes(), from("/")), CookieOutcome::Kept);
        }
        assert_eq!(sent(&jar, "/any", 0), "Cookie: a=2; b=\"x y\"\r\n");
        assert_eq!(jar.set(b"a=; Max-Age=0", from("/")), CookieOutcome::Removed);
        let past = "b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT";
        assert_eq!(jar.set(past.as_bytes(), from("/")), CookieOutcome::Removed);
        assert_eq!(sent(&jar, "/", 0), "");
    }

    #[test]
    fn cookies_end_when_they_say() {
        let mut jar = Jar::default();
        let future = "b=2; expires=Wed, 15-Nov-2023 00:00:00 GMT";
        for value in [
            "a=1; Max-Age=10",
            future,
            "c=3; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "d=4; Max-Age=99999999999999",
        ] {
            let outcome = jar.set(value.as_bytes(), from("/"));
            assert_eq!(outcome, CookieOutcome::Kept, "{value}");
        }
        assert_eq!(sent(&jar, "/", 4), "Cookie: a=1; b=2; c=3; d=4\r\n");
        assert_eq!(sent(&jar, "/", 9), "Cookie: a=1; b=2; d=4\r\n");
        assert_eq!(sent(&jar, "/", 6_500), "Cookie: d=4\r\n");
    }

    #[test]
    fn paths_match_as_in_the_rfc() {
        let mut jar = Jar::default();
        jar.set(b"own=1", from("/a/b?q"));
        jar.set(b"deep=2; Path=/a/b", from("/"));
        jar.set(b"all=3; Path=/", from("/a/b"));
        jar.set(b"odd=4; Path=b", from("/"));
        assert_eq!(
            sent(&jar, "/a/b/c", 0),
            "Cookie: deep=2; own=1; all=3; odd=4\r\n"
        );
        assert_eq!(sent(&jar, "/a/bc", 0), "Cookie: own=1; all=3; odd=4\r\n");
        assert_eq!(sent(&jar, "/ab", 0), "Cookie: all=3; odd=4\r\n");
        assert!(matches("/a/", "/a/") && matches("/a/x", "/a/") && !matches("/a", "/a/"));
        for (path, expected) in [("/", "/"), ("/a", "/"), ("/a/b/", "/a/b"), ("*", "/")] {
            assert_eq!(default_path(path), expected);
        }
    }

    #[test]
    fn a_path_that_is_too_long_counts_as_none() {
        let mut jar = Jar::default();
        let path = |length: usize| format!("/{}", "p".repeat(length - 1));
        jar.set(
            format!("a=1; Path={}", path(LONGEST_PATH)).as_bytes(),
            from("/x"),
        );
        jar.set(
            format!("b=2; Path={}", path(1 << 20)).as_bytes(),
            from("/x"),
        );
        assert_eq!(sent(&jar, "/", 0), "Cookie: b=2\r\n");
        assert!(jar.0.iter().all(|one| one.path.len() <= LONGEST_PATH));
    }

    #[test]
    fn cookies_for_others_are_refused() {
        let mut jar = Jar::default();
        let tls = CookieSource {
            tls: true,
            ..from("/")
        };
        for (value, plain, secure) in [
            ("a=1; Domain=example.com", true, true),
            ("a=1; Domain=.Example.com", true, true),
            ("a=1; Domain=www.example.com", true, true),
            ("a=1; Domain=ample.com", false, false),
            ("a=1; Domain=other.com", false, false),
            ("a=1; Domain=x.www.example.com", false, false),
            ("a=1; Secure", false, true),
            ("__Secure-a=1", false, false),
            ("__Secure-a=1; Secure", false, true),
            ("__Host-a=1; Secure; Path=/", false, true),
            (
                "__Host-a=1; Secure; Path=/; Domain=example.com",
                false,
                false,
            ),
            ("__Host-a=1; Secure", false, false),
            ("=1", false, false),
            ("nothing", false, false),
        ] {
            let outcome = |kept| {
                if kept {
                    CookieOutcome::Kept
                } else {
                    CookieOutcome::Refused
                }
            };
            let set = jar.set(value.as_bytes(), from("/"));
            assert_eq!(set, outcome(plain), "{value}");
            assert_eq!(jar.set(value.as_bytes(), tls), outcome(secure), "{value}");
        }
        let long = format!("a={}", "b".repeat(LONGEST));
        assert_eq!(jar.set(long.as_bytes(), from("/")), CookieOutcome::Refused);
        assert_eq!(jar.set(b"a=\xff", from("/")), CookieOutcome::Refused);
        let far = format!("/{}/", "d".repeat(LONGEST_PATH));
        assert_eq!(jar.set(b"a=1", from(&far)), CookieOutcome::Refused);
        assert!(covers("127.0.0.1", "127.0.0.1") && !covers("0.0.1", "127.0.0.1"));
    }

    #[test]
    fn a_user_has_only_so_many() {
        let mut jar = Jar::default();
        for number in 0..MAX + 2 {
            jar.set(format!("c{number}=x").as_bytes(), from("/"));
        }
        let sent = sent(&jar, "/", 0);
        assert_eq!(sent.matches("=x").count(), MAX);
        assert!(sent.contains(": c2=x;") && !sent.contains("c1=x"), "{sent}");
    }
}
