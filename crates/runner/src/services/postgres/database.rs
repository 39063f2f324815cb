//! Deadheat's database on a server: made, seeded, and dropped where the server stays.

use std::net::IpAddr;

use postgres::config::SslMode;
use postgres_protocol::password::scram_sha_256;

use super::{
    admin::{self, Admin, ConnectError, quoted},
    endpoint::{Endpoint, random_word},
    statements::StatementCounter,
    tables,
};
use crate::services::ServiceError;

/// The oldest supported version of the server, which introduced `drop database … with (force)`.
const OLDEST: i32 = 130_000;
const OWN_DATABASE: &str = "deadheat";
const STACK_ROLE: &str = "deadheat_stack";
/// Queries the databases of sessions on a user's server that nobody is connected to. A session is, as long as it lasts.
const LEFTOVERS: &str = "select datname::text from pg_database where datname ~ '^deadheat_[a-z0-9]{10}$' \
    and not exists (select from pg_stat_activity where pg_stat_activity.datname = pg_database.datname) order by 1";
/// Servers that are alive together at most, each with a role of its own.
pub const SEATS: usize = 12;

/// The owner of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// Deadheat owns the server, and deletes it with all its databases.
    Own,
    /// The user owns the server. Deadheat must remove everything that it created, and change nothing else.
    Guest,
}

/// A seeded database. Dropping this value drops the database on the user's server.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) admin: Admin,
    /// The URLs for stacks, in the order of `roles`.
    pub(super) urls: Vec<String>,
    pub(super) counting: StatementCounter,
    /// The roles that stacks connect as; never empty.
    pub(super) roles: Vec<String>,
    /// The server's version, in its own format.
    pub(super) version: String,
    /// Declared last, so that Deadheat's own connection is closed first.
    lease: Lease,
}

impl Database {
    /// Creates and seeds the database.
    pub(super) fn create(endpoint: &Endpoint, ownership: Ownership) -> Result<Self, ServiceError> {
        let place = format!("PostgreSQL at {}:{}", endpoint.host, endpoint.port);
        let connect = |config| {
            Admin::connect(config, &endpoint.host, endpoint.port).map_err(|problem| {
                let attempt = format!("connecting to {place} as {}", endpoint.user());
                let advice = "check that it runs and that `--postgres URL` names its port, a user and the password";
                ServiceError::new(attempt, problem, advice)
            })
        };
        if ownership == Ownership::Guest {
            warn_of_clear_text(endpoint);
        }
        let maintenance = connect(endpoint.config.clone())?;
        let version = check_version(&maintenance)?;
        if ownership == Ownership::Guest {
            warn_of_leftovers(&maintenance, &place);
        }
        let mut lease = Lease::take(endpoint, ownership);
        let password = random_word(24);
        let own_roles = lease.create_roles(&maintenance, &password)?;
        lease.create_database(&maintenance)?;
        maintenance.close();
        let mut config = endpoint.config.clone();
        config.dbname(&lease.database);
        let admin = connect(config)?;
        let (roles, secret) = if own_roles {
            (lease.roles.clone(), password)
        } else {
            (vec![endpoint.user().to_owned()], endpoint.password())
        };
        let readers: Vec<String> = roles.iter().map(|role| quoted(role)).collect();
        admin.run("making the tables", |client| {
            tables::seed(client, &readers.join(", "))?;
            tables::make_items(client, &roles)?;
            tables::make_worlds(client, &roles)
        })?;
        let counting = StatementCounter::choose(&admin, &roles, own_roles);
        let url = |role: &String| endpoint.url(role, &secret, &lease.database);
        let database = Self {
            admin,
            urls: roles.iter().map(url).collect(),
            counting,
            roles,
            version,
            lease,
        };
        database.check_stack_access(endpoint)?;
        Ok(database)
    }

    /// Connects as a stack will, so that a server that refuses is found now and not in the first heat.
    fn check_stack_access(&self, endpoint: &Endpoint) -> Result<(), ServiceError> {
        let ask = || -> Result<(), ConnectError> {
            let config = self.urls[0].parse::<postgres::Config>()?;
            let mut client = admin::connect(&config, &endpoint.host, endpoint.port)?;
            // Not reading the table, which would count as a stack's statement.
            let row = client.query_one("select has_table_privilege('users', 'select')", &[])?;
            let may_read: bool = row.try_get(0)?;
            may_read.then_some(()).ok_or(ConnectError::NotReadable)
        };
        ask().map_err(|error| {
            let attempt = format!(
                "reading {} on {}:{} as {}",
                self.lease.database, endpoint.host, endpoint.port, self.roles[0]
            );
            let advice = "let this user connect by TCP with a password (`pg_hba.conf`)";
            ServiceError::new(attempt, error, advice)
        })
    }

    /// Drops it where the server stays. A second time does nothing.
    pub(super) fn remove(&mut self) -> Result<(), ServiceError> {
        self.admin.close();
        self.lease.end()
    }
}

/// As libpq does, a connection is made without TLS to a server that has none, if the URL does not insist on it. But it is
/// said before the password goes out.
fn warn_of_clear_text(endpoint: &Endpoint) {
    let Endpoint {
        host, port, config, ..
    } = endpoint;
    let local = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    if !local
        && config.get_ssl_mode() == SslMode::Prefer
        && matches!(admin::greet(host, *port), Ok(false))
    {
        tracing::warn!(
            "PostgreSQL at {host}:{port} offers no TLS, so the connection is not encrypted; \
             add sslmode=require to the URL to refuse that, or sslmode=disable to accept it"
        );
    }
}

/// A session that was killed could not drop its database and roles.
fn warn_of_leftovers(maintenance: &Admin, place: &str) {
    let attempt = "looking for databases of earlier sessions";
    let found = maintenance.run(attempt, |client| {
        let rows = client.query(LEFTOVERS, &[])?;
        rows.iter().map(|row| row.try_get(0)).collect()
    });
    let databases: Vec<String> = found.unwrap_or_default();
    for database in databases {
        let roles = roles_of(&database).join(", ");
        tracing::warn!(
            "{place} still has {database}, of a session that was killed, and nothing is connected to it. \
             To drop it: `drop database {database}; drop role if exists {roles}`"
        );
    }
}

/// The roles that stacks connect as to Deadheat's `database`, if Deadheat may make roles.
fn roles_of(database: &str) -> Vec<String> {
    let suffix = database.trim_start_matches(OWN_DATABASE);
    (0..SEATS)
        .map(|seat| format!("{STACK_ROLE}{suffix}_{seat}"))
        .collect()
}

fn check_version(admin: &Admin) -> Result<String, ServiceError> {
    let attempt = "asking for the version";
    let (number, text) = admin.run(attempt, |client| {
        let row = client.query_one(
            "select current_setting('server_version_num')::integer, current_setting('server_version')",
            &[],
        )?;
        Ok((row.try_get::<_, i32>(0)?, row.try_get::<_, String>(1)?))
    })?;
    if number < OLDEST {
        let problem = format!("the server is PostgreSQL {text}");
        return Err(ServiceError::new(
            attempt,
            problem,
            "use version 13 or newer",
        ));
    }
    // Debian adds its package's version in brackets.
    Ok(text.split_whitespace().next().unwrap_or(&text).to_owned())
}

/// The database and roles that were created on a server and must be removed.
#[derive(Debug)]
struct Lease {
    endpoint: Endpoint,
    ownership: Ownership,
    /// The database's name.
    database: String,
    /// Whether the database has been created.
    created: bool,
    /// The roles that have been created.
    roles: Vec<String>,
}

impl Lease {
    fn take(endpoint: &Endpoint, ownership: Ownership) -> Self {
        let suffix = match ownership {
            Ownership::Own => String::new(),
            Ownership::Guest => format!("_{}", random_word(10).to_lowercase()),
        };
        Self {
            endpoint: endpoint.clone(),
            ownership,
            database: format!("{OWN_DATABASE}{suffix}"),
            created: false,
            roles: Vec::new(),
        }
    }

    /// Creates the stacks' roles. If that is not allowed, returns `false`, and stacks connect as the given user.
    fn create_roles(&mut self, admin: &Admin, password: &str) -> Result<bool, ServiceError> {
        let roles = roles_of(&self.database);
        // Send the password in the form in which the server stores it, because statements may be logged.
        let verifier = scram_sha_256(password.as_bytes());
        // One command, so that there are all of them or none.
        // Whatever the server's own search path is.
        let create = |role: &String| {
            format!(
                "create role {role} login password '{verifier}'; \
                 alter role {role} set search_path = \"$user\", public"
            )
        };
        let create: Vec<String> = roles.iter().map(create).collect();
        let create = create.join("; ");
        let attempt = format!("making the roles of {}", self.database);
        let result = admin.run(&attempt, |client| {
            let allowed: bool = client
                .query_one(
                    "select rolsuper or rolcreaterole from pg_roles where rolname = current_user",
                    &[],
                )?
                .try_get(0)?;
            if allowed {
                client.batch_execute(&create)?;
            }
            Ok(allowed)
        })?;
        if result {
            self.roles = roles;
        }
        Ok(result)
    }

    fn create_database(&mut self, admin: &Admin) -> Result<(), ServiceError> {
        let name = &self.database;
        let create = format!("create database {name} template template0 encoding 'UTF8'");
        let attempt = format!("making the database {name}");
        admin
            .run(&attempt, |client| client.batch_execute(&create))
            .map_err(|error| {
                let user = self.endpoint.user();
                let advice = format!("let {user} create databases (`alter role \"{user}\" createdb`), or use another \
                                      user");
                ServiceError { advice, ..error }
            })?;
        self.created = true;
        Ok(())
    }

    fn end(&mut self) -> Result<(), ServiceError> {
        if self.ownership == Ownership::Own || (!self.created && self.roles.is_empty()) {
            return Ok(());
        }
        let Endpoint {
            host, port, config, ..
        } = &self.endpoint;
        let mut drops = Vec::new();
        if self.created {
            drops.push(format!(
                "drop database if exists {} with (force)",
                self.database
            ));
        }
        if !self.roles.is_empty() {
            drops.push(format!("drop role if exists {}", self.roles.join(", ")));
        }
        let by_hand = drops.join("; ");
        let failed = |problem: String| {
            let attempt = format!("dropping {} on {host}:{port}", self.database);
            ServiceError::new(attempt, problem, format!("do it by hand: `{by_hand}`"))
        };
        let admin = Admin::connect(config.clone(), host, *port)
            .map_err(|error| failed(error.to_string()))?;
        for statement in &drops {
            admin
                .run("cleaning up", |client| client.batch_execute(statement))
                .map_err(|error| failed(error.problem))?;
        }
        self.created = false;
        self.roles.clear();
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("{error}");
        }
    }
}
