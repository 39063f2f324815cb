//! A temporary cluster: `initdb`, its settings, the server, and nothing of it afterwards.

use std::{
    fs,
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, TcpListener},
    os::unix::fs::{OpenOptionsExt, chown},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    admin::{self, ConnectError},
    binaries::Binaries,
    endpoint::{Endpoint, OWN_USER, random_word},
};
use crate::{
    process::{ProcessError, Spawn, Supervised, Supervision, TempFolder, User},
    services::ServiceError,
};

/// The maximum number of ports that are tried. Another program may take a free port before the server binds it.
const PORT_ATTEMPTS: u32 = 5;
const INITDB_PATIENCE: Duration = Duration::from_secs(60);
const POLL_PAUSE: Duration = Duration::from_millis(20);
const GRACE: Duration = Duration::from_secs(10);
const ADVICE: &str = "try other binaries (Debian: `apt install --reinstall postgresql`), or use a server of yours \
                      with `--postgres URL`";

/// The settings of a new cluster.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) binaries: &'a Binaries,
    pub(super) supervision: &'a Supervision,
    pub(super) user: Option<User>,
    pub(super) cpus: Option<Vec<usize>>,
    pub(super) access: Access,
    pub(super) log_dir: &'a Path,
    /// How long the server may take until it answers.
    pub(super) patience: Duration,
}

/// The network addresses of the server and of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address of this machine that it listens on.
    pub listen: IpAddr,
    /// The only other address from which the server accepts connections.
    pub client: IpAddr,
}

impl Access {
    /// This machine alone.
    pub(crate) const LOOPBACK: Self = Self {
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        client: IpAddr::V4(Ipv4Addr::LOCALHOST),
    };

    /// Lines for `pg_hba.conf`.
    fn rules(self) -> String {
        let rule = |address: IpAddr| {
            let whole = if address.is_ipv4() { 32 } else { 128 };
            format!("host all all {address}/{whole} scram-sha-256\n")
        };
        [self.listen, self.client].map(rule).concat()
    }
}

/// A running server. Dropping it stops it and deletes its folder.
#[derive(Debug)]
pub(super) struct Cluster {
    // The order matters: the server ends before its folder goes.
    pub(super) server: Supervised,
    folder: TempFolder,
    pub(super) endpoint: Endpoint,
    pub(super) log: PathBuf,
}

/// Why an attempt to start the server failed.
enum StartFailure {
    /// Another program has the port.
    PortTaken(ServiceError),
    /// Anything that another attempt would not change.
    Final(ServiceError),
}

impl Cluster {
    /// Creates a cluster and starts its server on a port that `ports` chooses. Tries another port if that one is taken.
    pub(super) fn start(
        plan: &Plan<'_>,
        mut ports: impl FnMut(IpAddr) -> io::Result<u16>,
    ) -> Result<Self, ServiceError> {
        // The temporary folder is deleted even if Deadheat is killed.
        let folder = plan.make_folder().map_err(|error| {
            let temp = std::env::temp_dir();
            let what = format!("making a folder for PostgreSQL in {}", temp.display());
            ServiceError::new(what, error, "free space there, or set TMPDIR")
        })?;
        let password = random_word(24);
        plan.initdb(folder.path(), &password)?;
        let mut attempt = 1;
        loop {
            let host = plan.access.listen;
            let port = ports(host).map_err(|error| {
                let attempt = format!("looking for a free port on {host}");
                ServiceError::new(attempt, error, "free some ports")
            })?;
            let endpoint = Endpoint::own(host, port, &password);
            let log = match attempt {
                1 => plan.log_dir.join("postgres.log"),
                _ => plan.log_dir.join(format!("postgres-{attempt}.log")),
            };
            match plan.serve(folder.path(), &endpoint, &log) {
                Ok(server) => {
                    return Ok(Self {
                        server,
                        folder,
                        endpoint,
                        log,
                    });
                }
                Err(StartFailure::PortTaken(error)) if attempt < PORT_ATTEMPTS => {
                    tracing::info!("{}; trying another port", error.summary());
                    attempt += 1;
                }
                Err(StartFailure::PortTaken(error) | StartFailure::Final(error)) => {
                    return Err(error);
                }
            }
        }
    }

    /// Stops the server and deletes its folder. A second time does nothing.
    pub(super) fn stop(&mut self) -> Result<(), ProcessError> {
        self.server.stop()?;
        self.folder.remove()
    }
}

/// A port of this machine's address `host` that is free at this moment.
pub(super) fn free_port(host: IpAddr) -> io::Result<u16> {
    let listener = TcpListener::bind((host, 0))?;
    Ok(listener.local_addr()?.port())
}

impl Plan<'_> {
    /// Starts the server of the cluster in `folder`.
    fn serve(
        &self,
        folder: &Path,
        endpoint: &Endpoint,
        log: &Path,
    ) -> Result<Supervised, StartFailure> {
        let port = endpoint.port;
        let host = &endpoint.host;
        let what = format!("starting {} on {host}:{port}", self.binaries.describe());
        let failed = |problem: String| ServiceError::new(&what, problem, ADVICE).with_log(log);
        let args = [
            "-D".to_owned(),
            folder.join("data").display().to_string(),
            "-p".to_owned(),
            port.to_string(),
        ];
        let spec = self.spawn("PostgreSQL", "postgres", args.to_vec(), folder, log);
        let mut server = Supervised::spawn(self.supervision, &spec)
            .map_err(|error| StartFailure::Final(failed(error.to_string())))?;
        let Err(problem) = self.wait_until_ready(&mut server, endpoint) else {
            return Ok(server);
        };
        let error = failed(problem.to_string());
        let mut lines = error.log_tail.iter();
        Err(if lines.any(|line| line.contains("could not bind")) {
            StartFailure::PortTaken(error)
        } else {
            StartFailure::Final(error)
        })
    }

    /// Creates the cluster's folder, which only the server's user can read.
    fn make_folder(&self) -> io::Result<TempFolder> {
        let folder = TempFolder::create("deadheat-postgres-", self.supervision)?;
        self.give_away(folder.path())?;
        Ok(folder)
    }

    fn give_away(&self, path: &Path) -> io::Result<()> {
        match self.user {
            Some(user) => chown(path, Some(user.uid), Some(user.gid)),
            None => Ok(()),
        }
    }

    /// Creates the cluster's files. Every connection needs the password, because other users of the machine can reach
    /// the loopback address too, and because stacks get a user and a password in any other setting as well.
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
        // initdb's servers read from it, so they exit cleanly when it is killed, and sooner than initdb itself would.
        let spec = Spawn {
            stop_signal: libc::SIGKILL,
            ..self.spawn("initdb", "initdb", args, folder, &log)
        };
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
        }?;
        let count = self.binaries.count_statements();
        let settings = text(folder, self.access.listen, count, self.binaries.major());
        append(&data.join("postgresql.conf"), &settings)
            .and_then(|()| match self.access {
                // There already.
                Access::LOOPBACK => Ok(()),
                access => append(&data.join("pg_hba.conf"), &access.rules()),
            })
            .map_err(|error| failed(format!("writing its settings: {error}")))
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
            grace: Some(GRACE),
            // A server that is killed leaves shared memory behind.
            unhurried: true,
            remove_after: None,
        }
    }

    fn wait_until_ready(
        &self,
        server: &mut Supervised,
        endpoint: &Endpoint,
    ) -> Result<(), ConnectError> {
        let until = Instant::now() + self.patience;
        loop {
            let Err(last) = admin::connect(&endpoint.config, &endpoint.host, endpoint.port) else {
                return Ok(());
            };
            if let Some(how) = server.wait_exit(POLL_PAUSE) {
                return Err(ConnectError::Ended(how));
            }
            if Instant::now() > until {
                return Err(ConnectError::Late(self.patience, Box::new(last)));
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

/// The longest path of a socket is 107 bytes, of which the server needs some (unix(7)).
const MAX_SOCKET_FOLDER: usize = 80;

/// The settings of a database that holds nothing worth keeping and shall not be what limits a stack: lines for the end of
/// `postgresql.conf`. The socket is in `folder`.
pub(super) fn text(folder: &Path, listen: IpAddr, count_statements: bool, major: u32) -> String {
    let folder = folder.display().to_string();
    let sockets = if folder.len() > MAX_SOCKET_FOLDER {
        ""
    } else {
        &folder
    };
    let sockets = sockets.replace('\'', "''");
    let libraries = if count_statements {
        "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.save = off\n"
    } else {
        ""
    };
    let preallocated = if major >= 14 {
        "min_dynamic_shared_memory = '8MB'\n"
    } else {
        ""
    };
    format!(
        "
# Deadheat: reached on this address only.
listen_addresses = '{listen}'
unix_socket_directories = '{sockets}'
# 400 clients that connect for each request, whose connections overlap, the pools of the servers that are alive beside
# the one that is asked, and some more.
max_connections = 1000
# Nothing here is worth keeping.
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
# The table fits many times; nothing runs on its own while a stack is measured.
shared_buffers = '64MB'
autovacuum = off
checkpoint_timeout = '1h'
jit = off
# No statement is logged.
log_statement = none
log_min_duration_statement = -1
log_connections = off
log_disconnections = off
log_checkpoints = off
logging_collector = off
log_destination = 'stderr'
# Whose statement it is, for the check that counts them.
log_line_prefix = '%u '
# What is not preallocated is a file in the cluster, which goes with it, also if the server is killed.
dynamic_shared_memory_type = mmap
{preallocated}{libraries}"
    )
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_extension_is_loaded_only_where_it_is() {
        let text = |folder: &Path, count| text(folder, Ipv4Addr::LOCALHOST.into(), count, 15);
        let folder = Path::new("/tmp/it's");
        assert!(text(folder, true).contains("'pg_stat_statements'"));
        assert!(!text(folder, false).contains("pg_stat_statements"));
        assert!(text(folder, false).contains("unix_socket_directories = '/tmp/it''s'"));
        let long = format!("/tmp/{}", "x".repeat(100));
        assert!(text(Path::new(&long), false).contains("unix_socket_directories = ''"));
    }
}
