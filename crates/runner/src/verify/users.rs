//! users: rows of the database, asked for anew for each request.

use std::time::Duration;

use deadheat_model::load::{Content, RequestSpec};
use rand::Rng as _;
use serde_json::{Value, json};

use super::{Depth, Fault, Verifier};
use crate::services::{Postgres, ServiceError};

/// Rows of an answer.
const ROWS: u32 = 10;

impl Verifier<'_> {
    pub(super) fn right_users(&mut self) -> Result<Content, Fault> {
        let rows = self.postgres()?.first_users(ROWS).map_err(fault)?;
        let value = rows
            .into_iter()
            .map(|(id, email)| json!({ "id": id, "email": email }))
            .collect::<Value>();
        Ok(Content::Json { value })
    }

    pub(super) fn verify_users(&mut self, depth: Depth) -> Result<(), Fault> {
        let request = self.request();
        let lag = self.postgres()?.count_lag();
        // A server without pg_stat_statements counts late; that is waited for once a session, not around each load.
        let counts = lag.is_zero() || depth == Depth::Full;
        let before = self.statements()?;
        self.expect_right()?;
        let rows = self.postgres()?.first_users(ROWS).map_err(fault)?;
        // Every row, so that a single one that is kept shows.
        for (id, _) in &rows {
            let changed = format!("changed-{}@example.org", self.random.next_u32());
            self.postgres()?.change_user(*id, &changed).map_err(fault)?;
        }
        let content = self.right_users()?;
        let rule = "rows are read for each request (all were changed after the answer before)";
        let shown = self.expect_content(rule, request.clone(), content);
        // Put back whatever the answer was: the next stack finds the table as this one did.
        for (id, email) in &rows {
            self.postgres()?.change_user(*id, email).map_err(fault)?;
        }
        shown?;
        self.expect_right()?;
        if counts {
            self.check_count(before, lag, &request)?;
        }
        Ok(())
    }

    /// Checks that three requests were three statements.
    fn check_count(
        &mut self,
        before: u64,
        lag: Duration,
        request: &RequestSpec,
    ) -> Result<(), Fault> {
        std::thread::sleep(lag);
        let asked = self.statements()?.saturating_sub(before);
        if asked != 3 {
            return Err(Fault::new(
                format!("GET {}", request.path),
                "each request runs one statement",
                "3 statements for 3 requests".to_owned(),
                format!("PostgreSQL counted {asked}"),
            ));
        }
        Ok(())
    }

    pub(super) fn statements(&mut self) -> Result<u64, Fault> {
        self.postgres()?.users_statements().map_err(fault)
    }

    pub(super) fn counts_late(&mut self) -> Result<bool, Fault> {
        Ok(!self.postgres()?.count_lag().is_zero())
    }

    pub(super) fn postgres(&mut self) -> Result<&mut Postgres, Fault> {
        self.fixtures
            .postgres
            .as_mut()
            .ok_or_else(|| missing("PostgreSQL"))
    }
}

pub(super) fn fault(error: ServiceError) -> Fault {
    Fault::new(
        "a service".to_owned(),
        "it can be asked",
        "an answer".to_owned(),
        error.to_string(),
    )
}

pub(super) fn missing(service: &str) -> Fault {
    Fault::new(
        service.to_owned(),
        "the workload's service runs",
        "a running service".to_owned(),
        "none was started".to_owned(),
    )
}
