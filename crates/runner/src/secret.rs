//! What a user types may hold a password; what is shown and recorded must not.

pub use deadheat_model::redact::{
    HIDDEN, header_value, hide as hide_in_load, url as without_secret_values,
};

/// An argument without secrets, for records and messages. A URL keeps only its scheme, because it may contain a
/// password in several places. A path keeps its query without secrets.
pub fn without_password(argument: &str) -> String {
    match argument.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://{HIDDEN}"),
        None => without_secret_values(argument),
    }
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
        // An @ in a path does not belong to a user name, unless a password with a slash made that path.
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

/// A log line without the passwords of URLs and without `secrets`.
pub fn without_secrets(line: &str, secrets: &[String]) -> String {
    secrets.iter().fold(without_userinfo(line), |line, secret| {
        line.replace(secret.as_str(), HIDDEN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
