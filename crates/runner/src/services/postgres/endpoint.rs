//! Where a server is and who may do what there.

use std::net::IpAddr;

use postgres::{Config, config::Host};
use rand::{RngExt as _, distr::Alphanumeric};

use super::admin::explain;
use crate::services::ServiceError;

/// The superuser of Deadheat's own clusters.
pub(super) const OWN_USER: &str = "deadheat";
/// The database that is there before Deadheat makes its own.
const MAINTENANCE: &str = "postgres";

/// A server's address, and a user who may create databases there.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) host: String,
    pub(super) port: u16,
    /// The user and a database to begin with.
    pub(super) config: Config,
    /// What follows `?` in the given URL; stacks get it too.
    query: Option<String>,
}

impl Endpoint {
    /// Deadheat's own cluster, which listens on `host` and `port`.
    pub(super) fn own(host: IpAddr, port: u16, password: &str) -> Self {
        let host = host.to_string();
        let mut config = Config::new();
        config
            .host(&host)
            .port(port)
            .user(OWN_USER)
            .password(password)
            .dbname(MAINTENANCE);
        Self {
            host,
            port,
            config,
            query: None,
        }
    }

    /// From `postgresql://user:password@host:port/database`.
    pub(super) fn parse(url: &str) -> Result<Self, ServiceError> {
        // The URL itself holds a password and stays out of messages and records.
        let unusable = |problem: &str| {
            let advice = "write it as postgresql://user:password@host:port/database";
            ServiceError::new("reading the URL of PostgreSQL", problem, advice)
        };
        if !url.starts_with("postgresql://") && !url.starts_with("postgres://") {
            return Err(unusable("it does not begin with postgresql://"));
        }
        let mut config: Config = url
            .parse()
            .map_err(|error: postgres::Error| unusable(&explain(&error)))?;
        let [Host::Tcp(host)] = config.get_hosts() else {
            return Err(unusable(
                "it does not name exactly one host; stacks need one that they reach by TCP",
            ));
        };
        let host = host.clone();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        if config.get_user().is_none() {
            return Err(unusable("it names no user"));
        }
        if config.get_dbname().is_none() {
            config.dbname(MAINTENANCE);
        }
        let query = url.split_once('?').map(|(_, query)| query.to_owned());
        Ok(Self {
            host,
            port,
            config,
            query,
        })
    }

    /// The user that it names.
    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// The password that it names, or none.
    pub(super) fn password(&self) -> String {
        let password = self.config.get_password().unwrap_or_default();
        String::from_utf8_lossy(password).into_owned()
    }

    /// The URL of the user that it names, and of the database to begin with.
    pub(super) fn own_url(&self) -> String {
        self.url(self.user(), &self.password(), MAINTENANCE)
    }

    /// What stacks get: another user in another database.
    pub(super) fn url(&self, user: &str, password: &str, database: &str) -> String {
        let (user, password) = (percent_encode(user), percent_encode(password));
        let secret = if password.is_empty() {
            String::new()
        } else {
            format!(":{password}")
        };
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        let query = self
            .query
            .as_ref()
            .map_or(String::new(), |query| format!("?{query}"));
        format!(
            "postgresql://{user}{secret}@{host}:{}/{database}{query}",
            self.port
        )
    }
}

/// `length` letters and digits out of the system's randomness.
pub(super) fn random_word(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}

/// Everything but unreserved characters (RFC 3986, section 2.3).
fn percent_encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into())
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_url_leads_to_the_same_server_under_another_user() {
        let given =
            Endpoint::parse("postgres://me:a%40b@db.local:5433/mine?application_name=x").unwrap();
        assert_eq!((given.user(), given.password().as_str()), ("me", "a@b"));
        assert_eq!(
            given.url("you", "p w", "other"),
            "postgresql://you:p%20w@db.local:5433/other?application_name=x"
        );
        let short = Endpoint::parse("postgresql://me@localhost").unwrap();
        assert_eq!(short.url("me", "", "x"), "postgresql://me@localhost:5432/x");
        assert_eq!(short.config.get_dbname(), Some("postgres"));
        let own = Endpoint::own(Ipv4Addr::LOCALHOST.into(), 40_123, "secret");
        assert_eq!(
            own.url("you", "p", "d"),
            "postgresql://you:p@127.0.0.1:40123/d"
        );
    }

    #[test]
    fn urls_that_stacks_could_not_use_are_refused() {
        for (url, reason) in [
            ("host=localhost user=me", "postgresql://"),
            ("postgresql://localhost/x", "no user"),
            ("postgresql://me@a,b/x", "one host"),
            ("postgresql://me@%2Frun%2Fpostgresql/x", "one host"),
            ("postgresql://me@localhost:port/x", "port"),
        ] {
            let error = Endpoint::parse(url).unwrap_err();
            assert!(error.problem.contains(reason), "{url}: {error}");
        }
    }

    #[test]
    fn random_words_differ() {
        assert_eq!(random_word(24).len(), 24);
        assert_ne!(random_word(24), random_word(24));
    }
}
