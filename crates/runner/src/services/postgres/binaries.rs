//! Where PostgreSQL comes from: the programs `initdb` and `postgres`, their version, and the unprivileged user that runs them
//! when Deadheat is root (PostgreSQL refuses to run as root).

use std::{
    cmp::Reverse,
    env, fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use crate::{
    process::{User, is_root},
    services::ServiceError,
};

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

/// Folders whose entries with this prefix have a `bin` of PostgreSQL: Debian, Red Hat, Homebrew, Postgres.app.
const VERSIONED: &[(&str, &str)] = &[
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql"),
    ("/usr/local/opt", "postgresql"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql"),
    ("/Applications/Postgres.app/Contents/Versions", ""),
];
/// Where the extension's library is, seen from `bin`: Debian, the archive of Maven Central, Red Hat.
const LIBRARY_FOLDERS: &[&str] = &[
    "../lib",
    "../lib/postgresql",
    "../lib/pgsql",
    "../lib64",
    "../lib64/pgsql",
];
const STATISTICS_LIBRARY: &str = "pg_stat_statements";

/// Programs that this machine can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binaries {
    /// The folder that holds them.
    pub(super) folder: PathBuf,
    /// As the server says it ("15.18").
    pub(super) version: String,
}

/// Why a place has no programs that can be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error("`{name}` is missing in {}", folder.display())]
    Missing { name: &'static str, folder: PathBuf },
    /// What was run, and why it was not.
    #[error("{0}: {1}")]
    NotStarted(String, #[source] io::Error),
    /// What was run, how it ended, and what it said.
    #[error("{0}: {1}, said {2:?}")]
    NoVersion(String, ExitStatus, String),
    #[error("no `initdb` and `postgres` on the PATH, by `pg_config` or in {0}")]
    Nowhere(String),
    #[error("{}: {}", .0.attempt, .0.problem)]
    NotDownloaded(ServiceError),
}

impl Binaries {
    /// The first of `places` that `user` can run; otherwise why each one is out.
    pub(super) fn find(places: &Places, user: Option<User>) -> Result<Self, Vec<Unusable>> {
        let folders = match places {
            Places::Folder(folder) => vec![folder.clone()],
            Places::Usual => usual_folders(),
        };
        let mut reasons = Vec::new();
        for folder in &folders {
            match Self::probe(folder, user) {
                Ok(binaries) => return Ok(binaries),
                Err(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            let places = VERSIONED
                .iter()
                .map(|(folder, prefix)| format!("{folder}/{prefix}*/bin"));
            let places: Vec<String> = places.collect();
            reasons.push(Unusable::Nowhere(places.join(", ")));
        }
        Err(reasons)
    }

    /// Asks the binaries in `folder` for their version, as the user that will run them.
    fn probe(folder: &Path, user: Option<User>) -> Result<Self, Unusable> {
        for name in ["initdb", "postgres"] {
            if !folder.join(name).is_file() {
                let folder = folder.to_owned();
                return Err(Unusable::Missing { name, folder });
            }
        }
        let program = folder.join("postgres");
        let mut command = Command::new(&program);
        command.arg("--version").current_dir("/");
        if let Some(user) = user {
            command.uid(user.uid).gid(user.gid);
        }
        let as_user = user.map_or(String::new(), |user| format!(" as user {}", user.uid));
        let run = format!("running `{} --version`{as_user}", program.display());
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return Err(Unusable::NotStarted(run, error)),
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let Some(version) = version_in(&said).filter(|_| output.status.success()) else {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let said = format!("{said}{complaint}").trim().to_owned();
            return Err(Unusable::NoVersion(run, output.status, said));
        };
        Ok(Self {
            folder: folder.to_owned(),
            version,
        })
    }

    /// The path of one of the programs.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The version's first number.
    pub(super) fn major(&self) -> u32 {
        let digits = self.version.split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Whether the extension that counts statements comes with them.
    pub(super) fn count_statements(&self) -> bool {
        LIBRARY_FOLDERS.iter().any(|folder| {
            ["so", "dylib"].iter().any(|ending| {
                let library = format!("{STATISTICS_LIBRARY}.{ending}");
                self.folder.join(folder).join(library).is_file()
            })
        })
    }

    /// "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin".
    pub(super) fn describe(&self) -> String {
        format!("PostgreSQL {} from {}", self.version, self.folder.display())
    }
}

/// The version in "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("(PostgreSQL)")?;
    rest.split_whitespace().next().map(str::to_owned)
}

fn usual_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path)
        .filter(|folder| folder.join("initdb").is_file())
        // A link on the PATH (as Homebrew makes it) does not lead to the libraries.
        .filter_map(|folder| fs::canonicalize(folder.join("postgres")).ok())
        .filter_map(|program| program.parent().map(Path::to_owned))
        .collect();
    folders.extend(folder_by_pg_config());
    for (parent, prefix) in VERSIONED {
        folders.extend(versioned_folders(Path::new(parent), prefix));
    }
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// What `pg_config` says; Debian has it in the package for developers, which need not come with a server.
fn folder_by_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    folder.join("initdb").is_file().then_some(folder)
}

/// The `bin` folders with an `initdb` below `parent`, the newest version first.
fn versioned_folders(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = version_key(name.strip_prefix(prefix)?);
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| folder.join("initdb").is_file())
        .collect();
    found.sort_by_key(|(version, _)| Reverse(version.clone()));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// The numbers in a name: "9.6" is older than "15".
fn version_key(name: &str) -> Vec<u32> {
    name.split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect()
}

const CANDIDATES: &[&str] = &["postgres", "nobody"];

/// The user for the server; `None` when Deadheat is not root and the server runs as the same user. The error says why root
/// has no such user.
pub(super) fn server_user() -> Result<Option<User>, ServiceError> {
    if !is_root() {
        return Ok(None);
    }
    let failed = |problem: String| {
        let advice =
            "run deadheat as an ordinary user, or use a server of yours with `--postgres URL`";
        ServiceError::new("choosing a user for PostgreSQL", problem, advice)
    };
    let passwd = fs::read_to_string("/etc/passwd")
        .map_err(|error| failed(format!("/etc/passwd: {error}")))?;
    let found = CANDIDATES.iter().find_map(|name| user_in(&passwd, name));
    found.map(Some).ok_or_else(|| {
        let names = CANDIDATES.join(" or ");
        failed(format!(
            "PostgreSQL refuses to run as root, and none of the users {names} is in /etc/passwd"
        ))
    })
}

/// The line of `name` in the text of /etc/passwd (passwd(5)). Not if it is root under another name.
fn user_in(passwd: &str, name: &str) -> Option<User> {
    let mut fields = passwd
        .lines()
        .map(|line| line.split(':'))
        .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?
        .skip(1);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    (uid != 0).then_some(User { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_the_server_says() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(version_in(debian).as_deref(), Some("15.18"));
        assert_eq!(
            version_in("postgres (PostgreSQL) 18beta1").as_deref(),
            Some("18beta1")
        );
        assert_eq!(version_in("something else"), None);
    }

    #[test]
    fn the_newest_version_comes_first() {
        let parent = tempfile::tempdir().unwrap();
        for version in ["9.6", "15", "16", "doc"] {
            let folder = parent.path().join(version).join("bin");
            fs::create_dir_all(&folder).unwrap();
            if version != "16" {
                fs::write(folder.join("initdb"), "").unwrap();
            }
        }
        let found = versioned_folders(parent.path(), "");
        let names: Vec<_> = found
            .iter()
            .map(|folder| folder.strip_prefix(parent.path()).unwrap())
            .collect();
        assert_eq!(names, ["15/bin", "9.6/bin", "doc/bin"].map(Path::new));
        assert!(versioned_folders(parent.path(), "pgsql-").is_empty());
    }

    #[test]
    fn a_folder_without_the_programs_says_which_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::Folder(folder.path().to_owned());
        let reasons = Binaries::find(&places, None).unwrap_err();
        let reason = reasons[0].to_string();
        assert!(reason.starts_with("`initdb` is missing in /"), "{reason}");
    }

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0::/root:/bin/sh\npostgresql:x:7:8::/:\npostgres:x:101:104:a,b:/var:/bin/bash\n";
        assert_eq!(
            user_in(passwd, "postgres"),
            Some(User { uid: 101, gid: 104 })
        );
        assert_eq!(user_in(passwd, "nobody"), None);
        assert_eq!(user_in(passwd, "root"), None);
        assert_eq!(user_in("postgres:x:", "postgres"), None);
    }

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
