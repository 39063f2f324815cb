//! The services that the session's workloads need. One that cannot be had fails its workloads, not the session.

use std::sync::atomic::AtomicBool;

use deadheat_model::{
    Event,
    plan::Pinning,
    session::{Phase, StackFailure},
    workload::Oracle,
};

use super::{
    SelectedTarget, SessionError, SessionOptions, cpus::generator_cpus, folder::SessionFolder,
};
use crate::{
    agent::Agents,
    certificate::Certificate,
    process::TempFolder,
    sampling::Tree,
    services::{Postgres, PostgresOptions, Upstream},
    verify::Fixtures,
};

/// Running services, and why some do not run.
pub struct Services {
    /// The services and data that the verifier compares answers with.
    pub fixtures: Fixtures,
    /// The certificate of servers that are loaded over TLS; `None` if no load uses TLS.
    pub(super) certificate: Option<Certificate>,
    /// The folder of the certificate's files, deleted on drop.
    _tls_folder: Option<TempFolder>,
    /// The agent on the database's host; `None` if that is this machine. Declared after the connections to the
    /// database, so that it ends after them.
    database_host: Option<Agents>,
    postgres_failure: Option<StackFailure>,
    upstream_failure: Option<StackFailure>,
}

impl Services {
    /// Starts what the workloads need, on the generator's CPUs; the database by `database_host`, if there is one.
    /// `interrupt` ends a download.
    ///
    /// # Errors
    /// When the stacks' files or the certificate cannot be written.
    pub(super) fn start(
        options: &SessionOptions,
        folder: &SessionFolder,
        pinning: &Pinning,
        database_host: Option<Agents>,
        on_event: &mut dyn FnMut(&Event),
        interrupt: &AtomicBool,
    ) -> Result<Self, SessionError> {
        // A load raises it for its own connections alone. Beside those of a heat's members, probes and supervisors need
        // descriptors of this process, too. (Each child has a limit of its own.)
        if let Err(error) = deadheat_load::raise_descriptor_limit() {
            tracing::warn!("raising the limit of file descriptors: {error}; see `deadheat doctor`");
        }
        let fixtures = Fixtures::create(folder.path(), options.seed).map_err(|source| {
            let path = folder.path().to_owned();
            SessionError::Folder { path, source }
        })?;
        let mut targets = options.targets.iter();
        let tls_folder = targets
            .any(|target| options.protocols(target).need_tls())
            .then(|| TempFolder::create("deadheat-tls-", &options.supervision))
            .transpose()
            .map_err(SessionError::Certificate)?;
        let certificate = tls_folder
            .as_ref()
            .map(|folder| Certificate::make(options.address(), folder.path()))
            .transpose()
            .map_err(SessionError::Certificate)?;
        let cpus = generator_cpus(pinning);
        let asked = options.workloads.iter().filter(|one| {
            let asked = |target: &SelectedTarget| options.asks(target, one);
            options.targets.iter().any(asked)
        });
        let oracles: Vec<&Oracle> = asked.map(|one| &one.manifest.oracle).collect();
        let mut own = Self {
            fixtures,
            certificate,
            _tls_folder: tls_folder,
            database_host,
            postgres_failure: None,
            upstream_failure: None,
        };
        let mut begin = |name: &str| {
            on_event(&Event::ServiceStarting {
                name: name.to_owned(),
            })
        };
        if oracles.iter().any(|one| one.needs_database()) {
            begin("PostgreSQL");
            let there = options.hosts.as_ref().and_then(|one| one.database.as_ref());
            let started = match (&mut own.database_host, there) {
                (Some(agents), Some(there)) => {
                    let serving = agents.database(there.address, there.client, interrupt)?;
                    let description = format!("{} on {}", serving.description, there.host);
                    Postgres::served(&serving.url, description)
                }
                _ => Postgres::start(&PostgresOptions {
                    sources: options.postgres.clone(),
                    cpus: cpus.clone(),
                    interrupt,
                    ..PostgresOptions::new(options.supervision.clone(), folder.logs())
                }),
            };
            let has_worlds = oracles
                .iter()
                .any(|one| matches!(one, Oracle::Worlds { .. }));
            let filled = started.and_then(|postgres| {
                // A server may read them into its memory when it starts.
                if has_worlds {
                    postgres.fill_all_worlds()?;
                }
                Ok(postgres)
            });
            match filled {
                Ok(postgres) => own.fixtures.postgres = Some(postgres),
                Err(error) => own.postgres_failure = Some(failure(&error)),
            }
        }
        if oracles.iter().any(|one| one.needs_upstream()) {
            begin("the slow upstream");
            match Upstream::start(&options.supervision, cpus, &folder.logs()) {
                Ok(upstream) => own.fixtures.upstream = Some(upstream),
                Err(error) => own.upstream_failure = Some(failure(&error)),
            }
        }
        own.announce(on_event);
        Ok(own)
    }

    fn announce(&self, on_event: &mut dyn FnMut(&Event)) {
        if let Some(detail) = self.describe_postgres() {
            let name = "PostgreSQL".to_owned();
            on_event(&Event::ServiceReady { name, detail });
        }
        if let Some(upstream) = &self.fixtures.upstream {
            let name = "the slow upstream".to_owned();
            on_event(&Event::ServiceReady {
                name,
                detail: upstream.url(),
            });
        }
    }

    /// The database's version and origin.
    pub(super) fn describe_postgres(&self) -> Option<String> {
        Some(self.fixtures.postgres.as_ref()?.describe().to_owned())
    }

    /// The process trees of the services that run here, whose CPU time is Deadheat's own.
    pub(super) fn trees(&self) -> Vec<Tree> {
        let postgres = self.fixtures.postgres.as_ref().and_then(Postgres::tree);
        let upstream = self.fixtures.upstream.as_ref().map(Upstream::tree);
        [postgres, upstream].into_iter().flatten().collect()
    }

    /// Which of them was lost, and how; `None`: all are there. PostgreSQL is asked, so this is for the time between heats.
    pub(super) fn lost(&mut self) -> Option<String> {
        let agents = self.database_host.as_mut();
        let host = agents.and_then(|agents| agents.check().err());
        let Fixtures {
            postgres, upstream, ..
        } = &mut self.fixtures;
        host.map(|error| error.to_string())
            .or_else(|| postgres.as_mut()?.lost())
            .or_else(|| upstream.as_mut()?.lost())
    }

    /// The number of free connections of the database; `None` without a database, or if the query fails.
    pub(super) fn free_connections(&self) -> Option<u32> {
        let connections = self.fixtures.postgres.as_ref()?.free_connections();
        let told = connections.inspect_err(|error| tracing::warn!("{}", error.summary()));
        Some(told.ok()?.free)
    }

    /// Why a workload with this oracle cannot be measured, if so.
    pub(super) fn failure_for(&self, oracle: &Oracle) -> Option<&StackFailure> {
        let database = self.postgres_failure.as_ref();
        let upstream = self.upstream_failure.as_ref();
        let database = database.filter(|_| oracle.needs_database());
        database.or_else(|| upstream.filter(|_| oracle.needs_upstream()))
    }
}

fn failure(error: &crate::services::ServiceError) -> StackFailure {
    StackFailure {
        phase: Phase::Service,
        reason: error.summary(),
        log_tail: error.log_tail.clone(),
        load: None,
    }
}
