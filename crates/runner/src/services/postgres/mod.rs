//! PostgreSQL with seeded tables: a cluster of Deadheat's own, or a database of its own on a given server.
//!
//! Stacks connect as roles of their own, so that the server tells their statements and connections from Deadheat's. Each
//! of the servers that are alive together has another one, so that its connections are told from the others'.

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
    time::Duration,
};

pub use admin::Room;
pub use binaries::{Mirror, Places, Source};
pub use cluster::Access;
pub use database::SEATS;
pub use statements::{OwnStatements, Said};
pub use tables::{Item, ItemRows, SEEDED, USERS, WORLDS};

use deadheat_model::workload::Table;

use self::{
    binaries::Binaries,
    cluster::{Cluster, Plan, free_port},
    database::{Database, Tenure},
    endpoint::Endpoint,
    statements::Listening,
};
use super::ServiceError;
use crate::process::{CpuGroup, Supervision};

/// How PostgreSQL is found and started.
#[derive(Clone, Debug)]
pub struct PostgresOptions<'a> {
    /// In the order of preference: the first that is there is used.
    pub sources: Vec<Source>,
    /// How supervisors are started.
    pub supervision: Supervision,
    /// The CPUs that a cluster of Deadheat's own is pinned to.
    pub cpus: Option<Vec<usize>>,
    /// Who reaches a cluster of Deadheat's own.
    pub access: Access,
    /// The folder for its logs: `postgres.log`, `postgres-initdb.log`.
    pub log_dir: PathBuf,
    /// How long the server may take until it answers.
    pub patience: Duration,
    /// Ends a download.
    pub interrupt: &'a AtomicBool,
}

/// For who has nothing to interrupt with.
static NEVER: AtomicBool = AtomicBool::new(false);

impl PostgresOptions<'static> {
    /// From the usual sources, on any CPU, with half a minute's patience.
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

/// What becomes of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowChange<'t> {
    /// It has this text.
    Set(&'t str),
    /// It is there, with this text.
    Add(&'t str),
    /// It is gone.
    Remove,
}

/// A server with the tables. Dropping it stops a cluster of Deadheat's own, and drops the database on any other
/// server. After a SIGKILL the cluster and its folder go too; on a given server the database `deadheat_…` then stays.
#[derive(Debug)]
pub struct Postgres {
    // The order matters: connections end before the server does.
    database: Database,
    cluster: Option<Cluster>,
    description: String,
}

impl Postgres {
    /// Finds, starts and seeds it.
    ///
    /// # Errors
    /// When no source has one, or the one that was found does not start, cannot be connected to or cannot be seeded.
    pub fn start(options: &PostgresOptions<'_>) -> Result<Self, ServiceError> {
        match find(options)? {
            SourceState::Server(url) => Self::guest(url),
            SourceState::Binaries(binaries) => Self::own(options, &binaries),
        }
    }

    /// The cluster of Deadheat's own that another host serves ([`Served`]), seeded.
    ///
    /// # Errors
    /// When it cannot be connected to or cannot be seeded.
    pub fn served(url: &str, description: String) -> Result<Self, ServiceError> {
        let endpoint = endpoint_of(url)?;
        Ok(Self {
            database: Database::create(&endpoint, Tenure::Own)?,
            cluster: None,
            description,
        })
    }

    fn own(options: &PostgresOptions<'_>, binaries: &Binaries) -> Result<Self, ServiceError> {
        let cluster = cluster(options, binaries)?;
        let database = Database::create(&cluster.endpoint, Tenure::Own)
            .map_err(|error| error.with_log(&cluster.log))?;
        Ok(Self {
            database,
            description: binaries.describe(),
            cluster: Some(cluster),
        })
    }

    fn guest(url: &str) -> Result<Self, ServiceError> {
        let endpoint = endpoint_of(url)?;
        let database = Database::create(&endpoint, Tenure::Guest)?;
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

    /// What stacks get as `DATABASE_URL`, with a password in it.
    pub fn url(&self) -> &str {
        self.url_of(0)
    }

    /// The same of the server with this number among those that are alive together, of which there are [`SEATS`].
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

    /// The control group that counts the server's CPU time, if it is Deadheat's own and there are control groups.
    pub fn group(&self) -> Option<&CpuGroup> {
        self.cluster.as_ref()?.server.group()
    }

    /// The first `count` rows of `table` by id, as they are now: id and text.
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
        // A row that is added is not looked for.
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

    /// What the server with this number among those that are alive together says to it during `work`, in which it asks
    /// for `table`. `None` on a server that is not Deadheat's own, whose log is not to be read.
    ///
    /// # Errors
    /// When the server does not answer, or its log cannot be read.
    pub fn listen(
        &self,
        seat: usize,
        table: Table,
        work: impl FnOnce(),
    ) -> Result<Option<Said>, ServiceError> {
        let Some(cluster) = &self.cluster else {
            return Ok(None);
        };
        let admin = &self.database.admin;
        let listening = self.logged(Listening::begin(admin, &cluster.log))?;
        work();
        self.logged(listening.end(self.role(seat), table)).map(Some)
    }

    /// Fills the table items of the server with this number among those that are alive together as it was at first.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn reset_items(&self, seat: usize) -> Result<(), ServiceError> {
        self.of_own(seat, "filling the table items", tables::reset_items)
    }

    /// Up to `limit` of its items with ids above `after`, by id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn items(&self, seat: usize, after: i32, limit: u32) -> Result<Vec<Item>, ServiceError> {
        self.of_own(seat, "reading the table items", |client, role| {
            tables::item_page(client, role, after, limit)
        })
    }

    /// Writes one of its items, whether there is one with that id or not.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn put_item(&self, seat: usize, item: &Item) -> Result<(), ServiceError> {
        self.of_own(seat, "writing an item", |client, role| {
            tables::put_item(client, role, item)
        })
    }

    /// Removes one of its items, if it is there.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn remove_item(&self, seat: usize, id: i32) -> Result<(), ServiceError> {
        self.of_own(seat, "removing an item", |client, role| {
            tables::remove_item(client, role, id)
        })
    }

    /// What its table items holds of what was written to it.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn item_rows(&self, seat: usize) -> Result<ItemRows, ServiceError> {
        self.of_own(seat, "counting items", tables::item_rows)
    }

    /// One of its items that is neither as it was at first nor as it may have been written: a new one has a name that begins
    /// with `prefix`, one in `written` a name that goes on with its id.
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

    /// What its statements did so far to `table`, which is its own; `None` where servers cannot be told apart.
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

    /// Fills the table world of the server with this number among those that are alive together. Tables that were filled with
    /// another `salt` from 0 to 9,999 differ in every row.
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

    /// The numbers in its table world, by id.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn worlds(&self, seat: usize) -> Result<Vec<i32>, ServiceError> {
        self.of_own(seat, "reading the table world", tables::world_numbers)
    }

    /// The role of the server with this number among those that are alive together.
    fn role(&self, seat: usize) -> &str {
        let roles = &self.database.roles;
        &roles[seat % roles.len()]
    }

    /// Does something with a table of a server's own.
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

    /// How long a statement takes to be counted: nothing with the extension pg_stat_statements, 11 s without it,
    /// when the table's scan counters have to do.
    pub fn count_lag(&self) -> Duration {
        self.database.counting.lag()
    }

    /// Connections that stacks have open now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn stack_connections(&self) -> Result<u32, ServiceError> {
        let Database { admin, roles, .. } = &self.database;
        self.logged(admin::held(admin, roles))
    }

    /// Those of the server with this number among the ones that are alive together; `None` where that cannot be told,
    /// because all stacks connect as the same user.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn connections_of(&self, seat: usize) -> Result<Option<u32>, ServiceError> {
        let Database { admin, roles, .. } = &self.database;
        match &roles[..] {
            // Whose they are is not known.
            [_] => Ok(None),
            roles => {
                let own = &roles[seat % roles.len()..][..1];
                self.logged(admin::held(admin, own)).map(Some)
            }
        }
    }

    /// Connections opened to the database since its beginning, Deadheat's own among them; `None` before PostgreSQL 14,
    /// which does not count them. A connection is counted when it ends at the latest.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn sessions(&self) -> Result<Option<u64>, ServiceError> {
        self.logged(admin::sessions(&self.database.admin))
    }

    /// How many connections the server takes, and how many of them are free now.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn room(&self) -> Result<Room, ServiceError> {
        self.logged(admin::room(&self.database.admin))
    }

    /// Ends it and deletes what was made. A second time does nothing.
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

    /// Adds the end of the server's log to an error.
    fn logged<T>(&self, result: Result<T, ServiceError>) -> Result<T, ServiceError> {
        let log: Option<&Path> = self.cluster.as_ref().map(|cluster| &*cluster.log);
        result.map_err(|error| match log {
            Some(log) => error.with_log(log),
            None => error,
        })
    }
}

/// The user that runs the server, or why there is none.
fn server_user() -> Result<Option<crate::process::User>, ServiceError> {
    binaries::server_user().map_err(|problem| {
        let advice =
            "run deadheat as an ordinary user, or use a server of yours with `--postgres URL`";
        ServiceError::new("choosing a user for PostgreSQL", problem, advice)
    })
}

/// What a source has.
enum SourceState<'u> {
    /// A server that runs, by its URL.
    Server(&'u str),
    /// What a server can be started with.
    Binaries(Binaries),
}

/// The first source that has something.
fn find<'u>(options: &'u PostgresOptions<'_>) -> Result<SourceState<'u>, ServiceError> {
    let mut missing = Vec::new();
    for source in &options.sources {
        let found = match source {
            Source::Url(url) => return Ok(SourceState::Server(url)),
            Source::Installed(places) => Binaries::find(places, server_user()?),
            Source::Download(mirror) => match download::binaries(mirror, options.interrupt) {
                Ok(folder) => Binaries::probe(&folder, server_user()?),
                Err(error) => Err(format!("{}: {}", error.attempt, error.problem)),
            },
        };
        match found {
            Ok(binaries) => return Ok(SourceState::Binaries(binaries)),
            Err(reason) => missing.push(reason),
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

fn endpoint_of(url: &str) -> Result<Endpoint, ServiceError> {
    Endpoint::parse(url).map_err(|problem| {
        // The URL itself holds a password and stays out of messages and records.
        let advice = "write it as postgresql://user:password@host:port/database";
        ServiceError::new("reading the URL of PostgreSQL", problem, advice)
    })
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
    /// As [`Postgres::start`]; a server that runs already is none of Deadheat's own.
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
