//! Checks of users and proxy: the service behind the server (the database or the slow upstream) must receive a request
//! for each answer.

use deadheat_model::{load::Content, workload::Table};
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::{Depth, Fault, Verifier, page::PageRow};
use crate::services::{Postgres, ServiceError, postgres::RowChange, upstream};

/// Rows of an answer.
const ROWS: u32 = 10;
const ANEW: &str = "rows are read for each request (all were changed after the answer before)";

impl Verifier<'_> {
    pub(super) fn right_users(&mut self) -> Result<Content, Fault> {
        let value = self
            .rows(Table::Users, ROWS)?
            .into_iter()
            .map(|(id, email)| json!({ "id": id, "email": email }))
            .collect::<Value>();
        Ok(Content::Json { value })
    }

    pub(super) fn verify_users(&mut self, depth: Depth) -> Result<(), Fault> {
        let counted = self.begin_count(depth)?;
        self.expect_right()?;
        let rows = self.rows(Table::Users, ROWS)?;
        let email = |random: &mut ChaCha8Rng| format!("changed-{}@example.org", random.next_u32());
        self.expect_changed(Table::Users, &rows, email)?;
        self.expect_right()?;
        self.end_count(counted, 3)
    }

    /// The first `count` rows of `table` by id: id and text.
    pub(super) fn rows(&mut self, table: Table, count: u32) -> Result<Vec<PageRow>, Fault> {
        self.postgres()?.first_rows(table, count).map_err(fault)
    }

    pub(super) fn change_row(
        &mut self,
        table: Table,
        id: i32,
        change: RowChange<'_>,
    ) -> Result<(), Fault> {
        let changed = self.postgres()?.change_row(table, id, change);
        changed.map_err(fault)
    }

    /// Asks after each of `rows`, which are all of the answer, got another text. A single one that is kept shows.
    pub(super) fn expect_changed(
        &mut self,
        table: Table,
        rows: &[PageRow],
        text: impl Fn(&mut ChaCha8Rng) -> String,
    ) -> Result<(), Fault> {
        for (id, _) in rows {
            let text = text(&mut self.random);
            self.change_row(table, *id, RowChange::Set(&text))?;
        }
        let shown = self.expect_right_by(ANEW);
        // Put back whatever the answer was: the next stack finds the table as this one did.
        for (id, text) in rows {
            self.change_row(table, *id, RowChange::Set(text))?;
        }
        shown.map(drop)
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

pub(super) fn right_content() -> Content {
    Content::Exact {
        bytes: upstream::ANSWER.as_bytes().to_vec(),
    }
}

impl Verifier<'_> {
    /// Once: an answer that is kept shows from the second one on, and that is the load's, or the crowd's
    /// (`expect_service_count`). Every probe takes as long as the upstream does.
    pub(super) fn verify_relay(&mut self) -> Result<(), Fault> {
        let before = self.relayed()?;
        self.expect_right()?;
        let asked = format!("{} {}", self.workload.method, self.path);
        self.expect_service_count(&asked, Some(before), 1..=1)
    }

    pub(super) fn relayed(&mut self) -> Result<u64, Fault> {
        let upstream = self
            .fixtures
            .upstream
            .as_mut()
            .ok_or_else(|| missing("the slow upstream"))?;
        upstream.requests().map_err(fault)
    }
}
