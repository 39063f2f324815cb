//! Deadheat's database on a server: made, seeded, and dropped where the server stays.

use super::{
    admin::{self, Admin},
    endpoint::{Endpoint, random_word},
    statements::Counting,
    users,
};
use crate::services::ServiceError;

/// The oldest server that will do: `drop database … with (force)` came with it.
const OLDEST: i32 = 130_000;
const OWN_DATABASE: &str = "deadheat";
const STACK_ROLE: &str = "deadheat_stack";

/// Whether the server is Deadheat's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tenure {
    /// It is, and goes with everything in it.
    Own,
    /// It stays, so nothing of Deadheat's may stay in it, and nothing else be touched.
    Guest,
}

/// A seeded database. Dropping the value drops it on a server that stays.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) admin: Admin,
    /// For stacks.
    pub(super) url: String,
    pub(super) counting: Counting,
    /// The role that stacks connect as.
    pub(super) role: String,
    /// The server's version, as it says it.
    pub(super) version: String,
    /// Declared last, so that Deadheat's own connection is closed first.
    lease: Lease,
}

impl Database {
    /// Makes and seeds it.
    pub(super) fn create(endpoint: &Endpoint, tenure: Tenure) -> Result<Self, ServiceError> {
        let place = format!("PostgreSQL at {}:{}", endpoint.host, endpoint.port);
        let connect = |config| {
            Admin::connect(config, &endpoint.host, endpoint.port).map_err(|problem| {
                let attempt = format!("connecting to {place} as {}", endpoint.user());
                let advice = "check that it runs and that `--postgres URL` names its port, a user and the password";
                ServiceError::new(attempt, problem, advice)
            })
        };
        let maintenance = connect(endpoint.config.clone())?;
        let version = check_version(&maintenance)?;
        let mut lease = Lease::take(endpoint, tenure);
        let password = random_word(24);
        let own_role = lease.create_role(&maintenance, &password)?;
        lease.create_database(&maintenance)?;
        maintenance.close();
        let mut config = endpoint.config.clone();
        config.dbname(&lease.database);
        let admin = connect(config)?;
        let role = lease
            .role
            .clone()
            .unwrap_or_else(|| endpoint.user().to_owned());
        admin.run("making the table users", |client| {
            users::seed(client, &quoted(&role))
        })?;
        let counting = Counting::choose(&admin, &role, own_role);
        let secret = if own_role {
            password
        } else {
            endpoint.password()
        };
        let database = Self {
            admin,
            url: endpoint.url(&role, &secret, &lease.database),
            counting,
            role,
            version,
            lease,
        };
        database.check_stack_access(endpoint)?;
        Ok(database)
    }

    /// Connects as a stack will, so that a server that refuses is found now and not in the first trial.
    fn check_stack_access(&self, endpoint: &Endpoint) -> Result<(), ServiceError> {
        let refused = |problem: String| {
            let attempt = format!(
                "reading {} on {}:{} as {}",
                self.lease.database, endpoint.host, endpoint.port, self.role
            );
            let advice = "let this user connect by TCP with a password (`pg_hba.conf`)";
            ServiceError::new(attempt, problem, advice)
        };
        let config = self
            .url
            .parse()
            .map_err(|error| refused(admin::explain(&error)))?;
        let mut client = admin::connect(&config, &endpoint.host, endpoint.port).map_err(refused)?;
        // Not reading the table, which would count as a stack's statement.
        let asked = client.query_one("select has_table_privilege('users', 'select')", &[]);
        match asked.and_then(|row| row.try_get(0)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(refused("it may not read the table users".to_owned())),
            Err(error) => Err(refused(admin::explain(&error))),
        }
    }

    /// Drops it where the server stays. A second time does nothing.
    pub(super) fn remove(&mut self) -> Result<(), ServiceError> {
        self.admin.close();
        self.lease.end()
    }
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
            "give one of version 13 or newer",
        ));
    }
    // Debian adds its package's version in brackets.
    Ok(text.split_whitespace().next().unwrap_or(&text).to_owned())
}

/// An identifier in double quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What was made on a server, to be undone.
#[derive(Debug)]
struct Lease {
    endpoint: Endpoint,
    tenure: Tenure,
    /// The database's name.
    database: String,
    /// Whether it is there.
    created: bool,
    /// The role, if there is one of Deadheat's.
    role: Option<String>,
}

impl Lease {
    fn take(endpoint: &Endpoint, tenure: Tenure) -> Self {
        let suffix = match tenure {
            Tenure::Own => String::new(),
            Tenure::Guest => format!("_{}", random_word(10).to_lowercase()),
        };
        Self {
            endpoint: endpoint.clone(),
            tenure,
            database: format!("{OWN_DATABASE}{suffix}"),
            created: false,
            role: None,
        }
    }

    /// Makes the stacks' role. Where that is not allowed, stacks connect as the given user; `false` then.
    fn create_role(&mut self, admin: &Admin, password: &str) -> Result<bool, ServiceError> {
        let suffix = self.database.trim_start_matches(OWN_DATABASE);
        let role = format!("{STACK_ROLE}{suffix}");
        let create = format!("create role {role} login password '{password}'");
        let result = admin.run(&format!("making the role {role}"), |client| {
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
        self.role = result.then_some(role);
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
                let advice = format!("let {user} create databases (`alter role \"{user}\" createdb`), or give another user");
                ServiceError { advice, ..error }
            })?;
        self.created = true;
        Ok(())
    }

    fn end(&mut self) -> Result<(), ServiceError> {
        if self.tenure == Tenure::Own || (!self.created && self.role.is_none()) {
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
        if let Some(role) = &self.role {
            drops.push(format!("drop role if exists {role}"));
        }
        let by_hand = drops.join("; ");
        let failed = |problem| {
            let attempt = format!("dropping {} on {host}:{port}", self.database);
            ServiceError::new(attempt, problem, format!("do it by hand: `{by_hand}`"))
        };
        let admin = Admin::connect(config.clone(), host, *port).map_err(failed)?;
        for statement in &drops {
            admin
                .run("cleaning up", |client| client.batch_execute(statement))
                .map_err(|error| failed(error.problem))?;
        }
        self.created = false;
        self.role = None;
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
