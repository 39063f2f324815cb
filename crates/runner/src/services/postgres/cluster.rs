//! A temporary cluster: `initdb`, the server, and nothing of it afterwards.

use std::{
    fs, io,
    io::Write,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::{OpenOptionsExt, chown},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{
    admin,
    binaries::Binaries,
    endpoint::{Endpoint, OWN_USER, random_word},
    settings,
};
use crate::{
    process::{Spawn, Supervised, Supervision, User},
    services::ServiceError,
};

/// Ports that are tried: between choosing one and the server's taking it, another program can be faster.
const PORT_ATTEMPTS: u32 = 5;
const INITDB_PATIENCE: Duration = Duration::from_secs(60);
const POLL_PAUSE: Duration = Duration::from_millis(20);
const GRACE: Duration = Duration::from_secs(10);
const ADVICE: &str = "try other binaries (Debian: `apt install --reinstall postgresql`), or give a server of yours with `--postgres URL`";

/// What a cluster is made of.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) binaries: &'a Binaries,
    pub(super) supervision: &'a Supervision,
    pub(super) user: Option<User>,
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) log_dir: &'a Path,
    /// How long the server may take until it answers.
    pub(super) patience: Duration,
}

/// A running server. Dropping it stops it and deletes its folder.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) server: Supervised,
    pub(super) endpoint: Endpoint,
    pub(super) log: PathBuf,
}

/// Why an attempt failed.
enum Failure {
    /// Another program has the port.
    PortTaken(ServiceError),
    /// Anything that another attempt would not change.
    Final(ServiceError),
}

impl Cluster {
    /// Starts one on a port that `ports` chooses; on another one if that is taken by then.
    pub(super) fn start(
        plan: &Plan<'_>,
        mut ports: impl FnMut() -> io::Result<u16>,
    ) -> Result<Self, ServiceError> {
        let mut attempt = 1;
        loop {
            let port = ports().map_err(|error| {
                ServiceError::new(
                    "looking for a free port on 127.0.0.1",
                    error,
                    "free some ports",
                )
            })?;
            match plan.attempt(port, attempt) {
                Ok(cluster) => return Ok(cluster),
                Err(Failure::PortTaken(error)) if attempt < PORT_ATTEMPTS => {
                    tracing::info!("{}; trying another port", error.summary());
                    attempt += 1;
                }
                Err(Failure::PortTaken(error) | Failure::Final(error)) => return Err(error),
            }
        }
    }
}

/// A port that is free at this moment.
pub(super) fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

impl Plan<'_> {
    /// Each attempt has a folder of its own: the supervisor of a server that ended has deleted the last one.
    fn attempt(&self, port: u16, attempt: u32) -> Result<Cluster, Failure> {
        let password = random_word(24);
        let folder = self.make_folder().map_err(|error| {
            let temp = std::env::temp_dir();
            let what = format!("making a folder for PostgreSQL in {}", temp.display());
            Failure::Final(ServiceError::new(
                what,
                error,
                "free space there, or set TMPDIR",
            ))
        })?;
        self.initdb(folder.path(), &password)
            .map_err(Failure::Final)?;
        let log = match attempt {
            1 => self.log_dir.join("postgres.log"),
            _ => self.log_dir.join(format!("postgres-{attempt}.log")),
        };
        let what = format!("starting {} on 127.0.0.1:{port}", self.binaries.describe());
        let failed = |problem: String| ServiceError::new(&what, problem, ADVICE).with_log(&log);
        let data = folder.path().join("data");
        let settings = settings::text(folder.path(), self.binaries.count_statements());
        append(&data.join("postgresql.conf"), &settings)
            .map_err(|error| Failure::Final(failed(format!("writing its settings: {error}"))))?;
        let args = [
            "-D".to_owned(),
            data.display().to_string(),
            "-p".to_owned(),
            port.to_string(),
        ];
        let mut spec = self.spawn("PostgreSQL", "postgres", args.to_vec(), folder.path(), &log);
        spec.remove_after = Some(folder.path().to_owned());
        let mut server = Supervised::spawn(self.supervision, &spec)
            .map_err(|error| Failure::Final(failed(error.to_string())))?;
        // From here on the supervisor deletes it.
        let _ = folder.keep();
        let endpoint = Endpoint::own(port, &password);
        match self.wait_until_ready(&mut server, &endpoint) {
            Ok(()) => Ok(Cluster {
                server,
                endpoint,
                log,
            }),
            Err(problem) => {
                let error = failed(problem);
                if error
                    .log_tail
                    .iter()
                    .any(|line| line.contains("could not bind"))
                {
                    Err(Failure::PortTaken(error))
                } else {
                    Err(Failure::Final(error))
                }
            }
        }
    }

    /// Only its owner may look into it (`TempDir` makes it so), and that is who runs the server.
    fn make_folder(&self) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new()
            .prefix("deadheat-postgres-")
            .tempdir()?;
        self.give_away(folder.path())?;
        Ok(folder)
    }

    fn give_away(&self, path: &Path) -> io::Result<()> {
        match self.user {
            Some(user) => chown(path, Some(user.uid), Some(user.gid)),
            None => Ok(()),
        }
    }

    /// Makes the cluster's files. Everybody needs the password, although only loopback is listened on: other users
    /// of the machine reach loopback as well, and stacks are given user and password as they would be elsewhere.
    fn initdb(&self, folder: &Path, password: &str) -> Result<(), ServiceError> {
        let log = self.log_dir.join("postgres-initdb.log");
        let what = format!(
            "making a cluster with {} in {}",
            self.binaries.describe(),
            folder.display()
        );
        let failed = |problem: String| ServiceError::new(&what, problem, ADVICE).with_log(&log);
        let secret = folder.join("password");
        write_secret(&secret, password)
            .and_then(|()| self.give_away(&secret))
            .map_err(|error| failed(format!("writing its password: {error}")))?;
        let data = folder.join("data");
        let args = vec![
            format!("--pgdata={}", data.display()),
            format!("--username={OWN_USER}"),
            format!("--pwfile={}", secret.display()),
            "--auth=scram-sha-256".to_owned(),
            "--encoding=UTF8".to_owned(),
            "--locale=C".to_owned(),
            "--no-sync".to_owned(),
        ];
        let spec = self.spawn("initdb", "initdb", args, folder, &log);
        let mut initdb = Supervised::spawn(self.supervision, &spec)
            .map_err(|error| failed(error.to_string()))?;
        let ended = initdb.wait_exit(INITDB_PATIENCE);
        let stopped = initdb.stop();
        let _ = fs::remove_file(&secret);
        match ended {
            Some(how) if how != "exited with status 0" => Err(failed(format!("initdb {how}"))),
            None => Err(failed(format!(
                "initdb took more than {} s",
                INITDB_PATIENCE.as_secs()
            ))),
            Some(_) if !data.join("PG_VERSION").is_file() => {
                Err(failed("initdb ended well but made no cluster".to_owned()))
            }
            Some(_) => stopped.map(drop).map_err(|error| failed(error.to_string())),
        }
    }

    fn spawn(&self, name: &str, program: &str, args: Vec<String>, cwd: &Path, log: &Path) -> Spawn {
        Spawn {
            name: name.to_owned(),
            program: self.binaries.program(program),
            args,
            // Messages in English, whatever the user's language is.
            env: vec![("LC_ALL".to_owned(), "C".to_owned())],
            cwd: cwd.to_owned(),
            cpus: self.cpus.clone(),
            log: log.to_owned(),
            user: self.user,
            // Fast shutdown: ends connections instead of waiting for them.
            stop_signal: libc::SIGINT,
            grace: GRACE,
            remove_after: None,
        }
    }

    fn wait_until_ready(&self, server: &mut Supervised, endpoint: &Endpoint) -> Result<(), String> {
        let until = Instant::now() + self.patience;
        loop {
            let problem = match admin::connect(&endpoint.config, &endpoint.host, endpoint.port) {
                Ok(_) => return Ok(()),
                Err(problem) => problem,
            };
            if let Some(how) = server.wait_exit(POLL_PAUSE) {
                return Err(format!("it {how}"));
            }
            if Instant::now() > until {
                let waited = self.patience.as_secs_f64();
                return Err(format!("no answer within {waited} s ({problem})"));
            }
        }
    }
}

fn write_secret(path: &Path, secret: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{secret}")
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .append(true)
        .open(path)?
        .write_all(text.as_bytes())
}
