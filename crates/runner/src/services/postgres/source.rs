//! Where PostgreSQL comes from, as a value.

use std::path::PathBuf;

/// One place that PostgreSQL can come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A running server. Deadheat makes a database of its own there and drops it afterwards.
    Url(String),
    /// Binaries on this machine, for a temporary cluster.
    Installed(Places),
    /// Binaries from Maven Central, for a temporary cluster. Kept in a cache.
    Download(Mirror),
}

impl Source {
    /// The usual order of preference: the given server and nothing else, or what is installed, or a download.
    pub fn automatic(url: Option<String>) -> Vec<Self> {
        match url {
            Some(url) => vec![Source::Url(url)],
            None => vec![
                Source::Installed(Places::default()),
                Source::Download(Mirror::default()),
            ],
        }
    }
}

/// Where installed binaries are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Places {
    /// The PATH, what `pg_config` says, then where Debian, Red Hat and Homebrew put them, newest first.
    #[default]
    Usual,
    /// This folder, which holds `initdb` and `postgres`.
    Folder(PathBuf),
}

/// Where binaries are downloaded from and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// A Maven repository's address, without a slash at its end.
    pub repository: String,
    /// The cache; `None` is `$XDG_CACHE_HOME/deadheat`, `~/.cache/deadheat`, or `/var/cache/deadheat` for root,
    /// because the server runs as another user then, who cannot look into root's home.
    pub cache: Option<PathBuf>,
}

impl Default for Mirror {
    fn default() -> Self {
        Self {
            repository: "https://repo1.maven.org/maven2".to_owned(),
            cache: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_server_is_never_replaced_by_another() {
        let url = "postgresql://me@localhost/postgres".to_owned();
        assert_eq!(Source::automatic(Some(url.clone())), [Source::Url(url)]);
        let own = Source::automatic(None);
        assert!(matches!(
            own[..],
            [Source::Installed(_), Source::Download(_)]
        ));
    }
}
