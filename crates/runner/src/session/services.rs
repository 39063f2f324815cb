//! The services that the session's workloads need. One that cannot be had fails its workloads, not the session.

use deadheat_model::{
    Event,
    plan::Pinning,
    trial::{Phase, TrialFailure},
    workload::Oracle,
};

use super::{
    SelectedTarget, SessionError, SessionOptions, cpus::generator_cpus, folder::SessionFolder,
};
use crate::{
    services::{Postgres, PostgresOptions, Upstream},
    verify::{Blob, Fixtures},
};

/// Running services, and why some do not run.
pub struct Services {
    /// What the verifier compares with.
    pub fixtures: Fixtures,
    postgres_failure: Option<TrialFailure>,
    upstream_failure: Option<TrialFailure>,
}

impl Services {
    /// Starts what the workloads need, on the generator's CPUs.
    ///
    /// # Errors
    /// When the blob cannot be written.
    pub(super) fn start(
        options: &SessionOptions,
        folder: &SessionFolder,
        pinning: &Pinning,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Self, SessionError> {
        // Before anything starts: the first load would raise it, and only servers after that would inherit it.
        if let Err(error) = deadheat_load::raise_descriptor_limit() {
            tracing::warn!("raising the limit of file descriptors: {error}; see `deadheat doctor`");
        }
        let path = folder.path().join("blob");
        let blob = Blob::create(path.clone(), options.seed)
            .map_err(|source| SessionError::Folder { path, source })?;
        let cpus = generator_cpus(pinning);
        let needs = |oracle: Oracle| {
            options.workloads.iter().any(|one| {
                let asked = |target: &SelectedTarget| options.asks(target, one);
                one.manifest.oracle == oracle && options.targets.iter().any(asked)
            })
        };
        let mut own = Self {
            fixtures: Fixtures {
                blob,
                postgres: None,
                upstream: None,
            },
            postgres_failure: None,
            upstream_failure: None,
        };
        let mut begin = |name: &str| {
            on_event(&Event::ServiceStarting {
                name: name.to_owned(),
            })
        };
        if needs(Oracle::Users) {
            begin("PostgreSQL");
            let started = Postgres::start(&PostgresOptions {
                sources: options.postgres.clone(),
                cpus: cpus.clone(),
                ..PostgresOptions::new(options.supervision.clone(), folder.logs())
            });
            match started {
                Ok(postgres) => own.fixtures.postgres = Some(postgres),
                Err(error) => own.postgres_failure = Some(failure(&error)),
            }
        }
        if needs(Oracle::Relayed) {
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

    /// Why a workload with this oracle cannot be measured, if so.
    pub(super) fn failure_for(&self, oracle: &Oracle) -> Option<&TrialFailure> {
        match oracle {
            Oracle::Users => self.postgres_failure.as_ref(),
            Oracle::Relayed => self.upstream_failure.as_ref(),
            _ => None,
        }
    }
}

fn failure(error: &crate::services::ServiceError) -> TrialFailure {
    TrialFailure {
        phase: Phase::Service,
        reason: error.summary(),
        log_tail: error.log_tail.clone(),
        load: None,
    }
}
