//! What a stack says to PostgreSQL for each request: one statement, prepared once for each connection.

use deadheat_model::stack::Pool;

use super::{Fault, Verifier, users::fault};
use crate::services::Said;

/// Requests for each connection of the pool that come before: drivers prepare a statement when it has come a few times
/// (psycopg at the sixth), and a pool takes its connections in any order.
const BEFORE: u32 = 8;
/// Requests for each connection while the statements are counted.
const COUNTED: u32 = 4;
/// Of so many requests, one may do it once: a connection that is new, or was not asked before.
const EXCUSED: u64 = 4;

impl Verifier<'_> {
    /// Checks what the manifest says of statements. Not without a pool, and not on a server of somebody else's, whose log
    /// cannot be read.
    pub(super) fn verify_statements(&mut self) -> Result<(), Fault> {
        let Pool::Size(size) = self.declared.pool else {
            return Ok(());
        };
        for _ in 0..size * BEFORE {
            self.expect_right()?;
        }
        let requests = size * COUNTED;
        let Some(said) = self.said_for(requests)? else {
            return Ok(());
        };
        self.judge_statements(u64::from(requests), said)
    }

    /// What it said to PostgreSQL for so many requests.
    fn said_for(&mut self, requests: u32) -> Result<Option<Said>, Fault> {
        let (request, content) = (self.request(), self.right_content()?);
        let question = self.question(request, content);
        let client = &mut self.client;
        let mut asked = Ok(());
        let postgres = self
            .fixtures
            .postgres
            .as_ref()
            .ok_or_else(|| super::users::missing("PostgreSQL"))?;
        let said = postgres.listen(self.seat, || {
            asked = (0..requests).try_for_each(|_| {
                let answer = client.send(&question.request)?;
                question.judge_of_stack(&question.name(), "the answer is right", &answer)
            });
        });
        asked?;
        said.map_err(fault)
    }

    fn judge_statements(&self, requests: u64, said: Said) -> Result<(), Fault> {
        let asked = format!("{requests} times GET {}", self.workload.path);
        let often = |count: u64| count > requests / EXCUSED;
        let is_prepared = !often(said.parsed);
        if is_prepared != self.declared.prepared {
            let expected = if self.declared.prepared {
                "a prepared statement that is used again (a stack that cannot do that declares `prepared = false` \
                 under [database])"
            } else {
                "a statement that is parsed for each request, as its manifest declares (prepared = false)"
            };
            return Err(Fault::new(
                asked,
                "a connection prepares its statement once",
                expected.to_owned(),
                format!("{} times parsed for {} reads", said.parsed, said.reads),
            ));
        }
        if often(said.others) != self.declared.other_statements {
            let expected = if self.declared.other_statements {
                "further statements, as its manifest declares (other-statements = true)"
            } else {
                "nothing but the reads (a stack that sends more declares `other-statements = true` under [database])"
            };
            return Err(Fault::new(
                asked,
                "a request sends one statement to PostgreSQL",
                expected.to_owned(),
                format!(
                    "{} other statements beside {} reads",
                    said.others, said.reads
                ),
            ));
        }
        Ok(())
    }
}
