//! PostgreSQL with seeded tables: a cluster of Deadheat's own, or a database on a server that the user names.
//!
//! Stacks connect with their own roles, so the server distinguishes their statements and connections from Deadheat's.
//! Each of the servers that run together has a different role, which distinguishes them from each other.

mod admin;
mod binaries;
mod cluster;
mod database;
mod download;
mod endpoint;
mod statements;
mod tables;
mod unpack;

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    thread,
    time::Duration,
};

pub use admin::ConnectionCapacity;
pub use binaries::{Mirror, Places, Source};
pub use cluster::Access;
pub use database::SEATS;
pub use statements::{LoggedStatements, OwnStatements};
pub use tables::{Item, ItemRows, SEEDED, USERS, WORLDS};

use deadheat_model::workload::Table;

use self::{
    binaries::{Binaries, Unusable, server_user},
    cluster::{Cluster, Plan, free_port},
    database::{Database, Ownership},
    endpoint::Endpoint,
    statements::LogCapture,
};
use super::ServiceError;
use crate::{process::Supervision, sampling::Tree};

/// How long a server may recover before it is lost.
const RECOVERY_SECONDS: u32 = 3;

/// How PostgreSQL is found and started.
#[derive(Clone, Debug)]
pub struct PostgresOptions<'a> {
    /// The sources in order of preference. The first one that has a server or binaries is used.
    pub sources: Vec<Source>,
    /// How supervisors are started.
    pub supervision: Supervision,
    /// The CPUs that a cluster of Deadheat's own is pinned to.
    pub cpus: Option<Vec<usize>>,
    /// The network addresses of a cluster of Deadheat's own.
    pub access: Access,
    /// The folder for its logs: `postgres.log`, `postgres-initdb.log`.
    pub log_dir: PathBuf,
    /// The maximum time until the server answers.
    pub patience: Duration,
    /// Stops a download when set.
    pub interrupt: &'a AtomicBool,
}

/// The default of [`PostgresOptions::interrupt`], which is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl PostgresOptions<'static> {
    /// Options with the usual sources, no pinning, and a timeout of half a minute.
    pub fn new(supervision: Supervision, log_dir: impl Into<PathBuf>) -> Self {
        Self {
            sources: Source::automatic(None),
            supervision,
            cpus: None,
            access: Access::LOOPBACK,
            log_dir: log_dir.into(),
            patience: Duration::from_secs(30),
            interrupt: &NEVER,
        }
    }
}

/// A change of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowChange<'t> {
    /// Replaces the row's text.
    Set(&'t str),
    /// Adds the row with this text.
    Add(&'t str),
    /// Removes the row.
    Remove,
}

/// A server with the tables. Dropping it stops a cluster of Deadheat's own, and drops the database on any other
/// server. After a SIGKILL the cluster and its folder go too; on a given server the database `deadheat_…` then stays.
#[derive(Debug)]
pub struct Postgres {
    // Declared in this order so that connections are closed before the server stops.
    database: Database,
    cluster: Option<Cluster>,
    description: String,
}

impl Postgres {
    /// Finds, starts and seeds a server.
    ///
    /// # Errors
    /// When no source has one, or the one that was found does not start, cannot be connected to or cannot be seeded.
    pub fn start(options: &PostgresOptions<'_>) -> Result<Self, ServiceError> {
        match find(options)? {
            SourceState::Server(url) => Self::guest(url),
            SourceState::Binaries(binaries) => Self::own(options, &binaries),
        }
    }

    /// Connects to a cluster that Deadheat runs on another host ([`Served`]), and seeds it.
    ///
    /// # Errors
    /// When it cannot be connected to or cannot be seeded.
    pub fn served(url: &str, description: String) -> Result<Self, ServiceError> {
        let endpoint = Endpoint::parse(url)?;
        Ok(Self {
            database: Database::create(&endpoint, Ownership::Own)?,
            cluster: None,
            description,
        })
    }

    fn own(options: &PostgresOptions<'_>, binaries: &Binaries) -> Result<Self, ServiceError> {
        let cluster = cluster(options, binaries)?;
        let database = Database::create(&cluster.endpoint, Ownership::Own)
            .map_err(|error| error.with_log(&cluster.log))?;
        Ok(Self {
            database,
            description: binaries.describe(),
            cluster: Some(cluster),
        })
    }

    fn guest(url: &str) -> Result<Self, ServiceError> {
        let endpoint = Endpoint::parse(url)?;
        let database = Database::create(&endpoint, Ownership::Guest)?;
        let description = format!(
            "PostgreSQL {} at {}:{}",
            database.version, endpoint.host, endpoint.port
        );
        Ok(Self {
            database,
            description,
            cluster: None,
        })
    }

    /// The value of `DATABASE_URL` for stacks, including a password.
    pub fn url(&self) -> &str {
        self.url_of(0)
    }

    /// The value of `DATABASE_URL` for the server in this seat, one of [`SEATS`]. The seat is a server's number among
    /// those that run together.
    pub fn url_of(&self, seat: usize) -> &str {
        let urls = &self.database.urls;
        &urls[seat % urls.len()]
    }

    /// "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin".
    pub fn describe(&self) -> &str {
        &self.description
    }

    /// The server's main process, if it is Deadheat's own.
    pub fn pid(&self) -> Option<u32> {
        self.cluster.as_ref().map(|cluster| cluster.server.pid())
    }

    /// The server's process tree, if it is Deadheat's own.
    pub(crate) fn tree(&self) -> Option<Tree> {
        let cluster = self.cluster.as_ref()?;
        Some(Tree::new(&cluster.server))
    }

    /// The current id and text of the first `count` rows of `table`, by id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn first_rows(&self, table: Table, count: u32) -> Result<Vec<(i32, String)>, ServiceError> {
        let Database {
            admin, counting, ..
        } = &self.database;
        let attempt = format!("reading the table {table}");
        let rows =
            self.logged(admin.run(&attempt, |client| tables::first(client, table, count)))?;
        counting.note_own_scan(admin, table);
        Ok(rows)
    }

    /// Changes one row of `table`, whose ids count from 1.
    ///
    /// # Errors
    /// When there is no such row, or one too many, or the server does not answer.
    pub fn change_row(
        &self,
        table: Table,
        id: i32,
        change: RowChange<'_>,
    ) -> Result<(), ServiceError> {
        let Database {
            admin, counting, ..
        } = &self.database;
        let attempt = format!("changing row {id} of the table {table}");
        let changed = self.logged(admin.run(&attempt, |client| match change {
            RowChange::Set(text) => tables::change(client, table, id, text),
            RowChange::Add(text) => tables::add(client, table, id, text),
            RowChange::Remove => tables::remove(client, table, id),
        }))?;
        // An added row does not exist yet.
        if !matches!(change, RowChange::Add(_)) {
            counting.note_own_scan(admin, table);
        }
        if changed == 1 {
            return Ok(());
        }
        let advice = match table {
            Table::Users => format!("take an id from 1 to {USERS}"),
            Table::Fortune | Table::Items | Table::World => {
                "take the id of a row that it has".to_owned()
            }
        };
        let problem = format!("the row is missing in the table {table}");
        Err(ServiceError::new(attempt, problem, advice))
    }

    /// How often the stacks' statements have asked for `table` since the start. The difference of two counts is exact, if the
    /// second is taken [`Postgres::count_lag`] after the last statement.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn statements(&self, table: Table) -> Result<u64, ServiceError> {
        self.logged(self.database.counting.count(&self.database.admin, table))
    }

    /// Runs `work`, in which the server in this seat queries `table`, and returns the statements that it executed.
    /// `None` if PostgreSQL is not Deadheat's own, because its log is not readable.
    ///
    /// # Errors
    /// When the server does not answer, or its log cannot be read.
    pub fn listen(
        &self,
        seat: usize,
        table: Table,
        work: impl FnOnce(),
    ) -> Result<Option<LoggedStatements>, ServiceError> {
        let Some(cluster) = &self.cluster else {
            return Ok(None);
        };
        let admin = &self.database.admin;
        let capture = self.logged(LogCapture::begin(admin, &cluster.log))?;
        work();
        self.logged(capture.end(self.role(seat), table)).map(Some)
    }

    /// Restores the initial rows of the table items of the server in this seat.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn reset_items(&self, seat: usize) -> Result<(), ServiceError> {
        self.of_own(seat, "filling the table items", tables::reset_items)
    }

    /// Up to `limit` items of the server in this seat with ids above `after`, by id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn items(&self, seat: usize, after: i32, limit: u32) -> Result<Vec<Item>, ServiceError> {
        self.of_own(seat, "reading the table items", |client, role| {
            tables::item_page(client, role, after, limit)
        })
    }

    /// Inserts or replaces an item of the server in this seat.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn put_item(&self, seat: usize, item: &Item) -> Result<(), ServiceError> {
        self.of_own(seat, "writing an item", |client, role| {
            tables::put_item(client, role, item)
        })
    }

    /// Removes an item of the server in this seat, if it exists.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn remove_item(&self, seat: usize, id: i32) -> Result<(), ServiceError> {
        self.of_own(seat, "removing an item", |client, role| {
            tables::remove_item(client, role, id)
        })
    }

    /// Counts of the rows that were written to the table items of the server in this seat.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn item_rows(&self, seat: usize) -> Result<ItemRows, ServiceError> {
        self.of_own(seat, "counting items", tables::item_rows)
    }

    /// An item of the server in this seat that has neither its initial value nor a valid written one; `None` if all are
    /// valid. The name of a new item begins with `prefix`; the name of an item in `written` also continues with its id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn damaged_item(
        &self,
        seat: usize,
        written: &RangeInclusive<i32>,
        prefix: &str,
    ) -> Result<Option<Item>, ServiceError> {
        self.of_own(seat, "checking items", |client, role| {
            tables::damaged_item(client, role, written, prefix)
        })
    }

    /// Counts of the statements of the server in this seat on its own `table`. `None` if servers cannot be
    /// distinguished.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn own_statements(
        &self,
        seat: usize,
        table: Table,
    ) -> Result<Option<OwnStatements>, ServiceError> {
        let Database {
            admin, counting, ..
        } = &self.database;
        self.logged(counting.of_own(admin, self.role(seat), table))
    }

    /// Fills the table world of the server in this seat. Two values of `salt` from 0 to 9,999 give tables that differ
    /// in every row.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn fill_worlds(&self, seat: usize, salt: i32) -> Result<(), ServiceError> {
        self.of_own(seat, "filling the table world", |client, role| {
            tables::fill_worlds(client, role, salt)
        })
    }

    /// Fills the table world of every server.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn fill_all_worlds(&self) -> Result<(), ServiceError> {
        (0..self.database.roles.len()).try_for_each(|seat| self.fill_worlds(seat, 0))
    }

    /// The numbers in the table world of the server in this seat, by id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn worlds(&self, seat: usize) -> Result<Vec<i32>, ServiceError> {
        self.of_own(seat, "reading the table world", tables::world_numbers)
    }

    /// The role of the server in this seat.
    fn role(&self, seat: usize) -> &str {
        let roles = &self.database.roles;
        &roles[seat % roles.len()]
    }

    /// Runs `work` on a table that belongs to the server in this seat.
    fn of_own<T>(
        &self,
        seat: usize,
        attempt: &str,
        work: impl Fn(&mut postgres::Client, &str) -> Result<T, postgres::Error>,
    ) -> Result<T, ServiceError> {
        let role = self.role(seat);
        self.logged(
            self.database
                .admin
                .run(attempt, |client| work(client, role)),
        )
    }

    /// The maximum delay until an executed statement is counted: zero with the extension pg_stat_statements, 11 s with
    /// the table's scan counters.
    pub fn count_lag(&self) -> Duration {
        self.database.counting.lag()
    }

    /// The number of connections that stacks have open now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn stack_connections(&self) -> Result<u32, ServiceError> {
        let Database { admin, roles, .. } = &self.database;
        self.logged(admin::held(admin, roles))
    }

    /// The number of connections that the server in this seat has open now. `None` if all stacks connect as the same
    /// user, so that their connections cannot be distinguished.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn connections_of(&self, seat: usize) -> Result<Option<u32>, ServiceError> {
        let Database { admin, roles, .. } = &self.database;
        match &roles[..] {
            // All stacks share one role.
            [_] => Ok(None),
            roles => {
                let own = &roles[seat % roles.len()..][..1];
                self.logged(admin::held(admin, own)).map(Some)
            }
        }
    }

    /// The number of connections opened to the database since its creation, including Deadheat's own. A connection is
    /// counted when it ends at the latest. `None` before PostgreSQL 14, which does not count them.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn sessions(&self) -> Result<Option<u64>, ServiceError> {
        self.logged(admin::sessions(&self.database.admin))
    }

    /// The maximum number of connections of the server, and the number that is free now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn free_connections(&self) -> Result<ConnectionCapacity, ServiceError> {
        self.logged(admin::free_connections(&self.database.admin))
    }

    /// How the server was lost; `None`: it answers.
    pub fn lost(&mut self) -> Option<String> {
        let cluster = self.cluster.as_mut();
        if let Some(exit) = cluster.and_then(|cluster| cluster.server.exit()) {
            return Some(format!("{} {exit}", self.description));
        }
        let ask = || {
            let attempt = "asking whether it still answers";
            let admin = &self.database.admin;
            admin.run(attempt, |client| client.batch_execute("select 1"))
        };
        // If one of its processes was killed, it ends all others and recovers.
        let mut asked = ask();
        for _ in 0..RECOVERY_SECONDS {
            if asked.is_ok() {
                break;
            }
            thread::sleep(Duration::from_secs(1));
            asked = ask();
        }
        asked.err().map(|error| error.summary())
    }

    /// Stops a cluster of Deadheat's own, or drops the database. Deletes everything that was created. A second call
    /// does nothing.
    ///
    /// # Errors
    /// When the database cannot be dropped, or the supervisor does not answer.
    pub fn stop(&mut self) -> Result<(), ServiceError> {
        self.database.remove()?;
        let Some(cluster) = &mut self.cluster else {
            return Ok(());
        };
        cluster.stop().map_err(|error| {
            let attempt = format!("stopping {}", self.description);
            let advice = "find it with `ps` and end it by hand";
            ServiceError::new(attempt, error, advice).with_log(&cluster.log)
        })
    }

    /// Appends the end of the server's log to an error.
    fn logged<T>(&self, result: Result<T, ServiceError>) -> Result<T, ServiceError> {
        let log: Option<&Path> = self.cluster.as_ref().map(|cluster| &*cluster.log);
        result.map_err(|error| match log {
            Some(log) => error.with_log(log),
            None => error,
        })
    }
}

/// A source that can be used.
enum SourceState<'u> {
    /// A running server, by its URL.
    Server(&'u str),
    /// Binaries to start a server from.
    Binaries(Binaries),
}

/// The first source that can be used.
fn find<'u>(options: &'u PostgresOptions<'_>) -> Result<SourceState<'u>, ServiceError> {
    let mut missing = Vec::new();
    for source in &options.sources {
        let found = match source {
            Source::Url(url) => return Ok(SourceState::Server(url)),
            Source::Installed(places) => Binaries::find(places, server_user()?),
            Source::Download(mirror) => match download::binaries(mirror, options.interrupt) {
                Ok(folder) => Binaries::find(&Places::Folder(folder), server_user()?),
                Err(error) => Err(vec![Unusable::NotDownloaded(error)]),
            },
        };
        match found {
            Ok(binaries) => return Ok(SourceState::Binaries(binaries)),
            Err(reasons) => missing.extend(reasons.iter().map(Unusable::to_string)),
        }
    }
    let problem = if missing.is_empty() {
        "no source was given".to_owned()
    } else {
        missing.join("; ")
    };
    Err(ServiceError::new(
        "looking for PostgreSQL",
        problem,
        "install it (`apt install postgresql` on Debian, `brew install postgresql` with Homebrew) or use a server of \
         yours with `--postgres postgresql://user:password@host:port/database`",
    ))
}

fn cluster(options: &PostgresOptions<'_>, binaries: &Binaries) -> Result<Cluster, ServiceError> {
    let plan = Plan {
        binaries,
        supervision: &options.supervision,
        user: server_user()?,
        cpus: options.cpus.clone(),
        access: options.access,
        log_dir: &options.log_dir,
        patience: options.patience,
    };
    Cluster::start(&plan, free_port)
}

/// A cluster of Deadheat's own without a database, for another host's Deadheat. Dropping it stops it and deletes it.
#[derive(Debug)]
pub struct Served {
    /// Where it is, with the password of its superuser.
    pub url: String,
    /// "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin".
    pub description: String,
    _cluster: Cluster,
}

impl Served {
    /// Finds and starts it.
    ///
    /// # Errors
    /// Those of [`Postgres::start`]; also when the server runs already, because it is not Deadheat's own.
    pub fn start(options: &PostgresOptions<'_>) -> Result<Self, ServiceError> {
        let SourceState::Binaries(binaries) = find(options)? else {
            let advice = "name it with --postgres on the machine of the servers";
            return Err(ServiceError::new(
                "starting PostgreSQL",
                "it runs already",
                advice,
            ));
        };
        let cluster = cluster(options, &binaries)?;
        Ok(Self {
            url: cluster.endpoint.own_url(),
            description: binaries.describe(),
            _cluster: cluster,
        })
    }
}
