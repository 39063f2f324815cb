//! users: rows of the database, asked for anew for each request.

use deadheat_model::{load::Content, workload::Table};
use rand::Rng as _;
use serde_json::{Value, json};

use super::{Depth, Fault, Verifier};
use crate::services::{Postgres, ServiceError, postgres::RowChange};

/// Rows of an answer.
const ROWS: u32 = 10;

impl Verifier<'_> {
    pub(super) fn right_users(&mut self) -> Result<Content, Fault> {
        let rows = self
            .postgres()?
            .first_rows(Table::Users, ROWS)
            .map_err(fault)?;
        let value = rows
            .into_iter()
            .map(|(id, email)| json!({ "id": id, "email": email }))
            .collect::<Value>();
        Ok(Content::Json { value })
    }

    pub(super) fn verify_users(&mut self, depth: Depth) -> Result<(), Fault> {
        let counted = self.begin_count(depth)?;
        self.expect_right()?;
        let rows = self
            .postgres()?
            .first_rows(Table::Users, ROWS)
            .map_err(fault)?;
        // Every row, so that a single one that is kept shows.
        for (id, _) in &rows {
            let changed = format!("changed-{}@example.org", self.random.next_u32());
            self.change_user(*id, &changed)?;
        }
        let content = self.right_users()?;
        let rule = "rows are read for each request (all were changed after the answer before)";
        let shown = self.expect_content(rule, self.request(), content);
        // Put back whatever the answer was: the next stack finds the table as this one did.
        for (id, email) in &rows {
            self.change_user(*id, email)?;
        }
        shown?;
        self.expect_right()?;
        self.end_count(counted, 3)
    }

    fn change_user(&mut self, id: i32, email: &str) -> Result<(), Fault> {
        let change = RowChange::Set(email);
        let changed = self.postgres()?.change_row(Table::Users, id, change);
        changed.map_err(fault)
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
