//! How a stack uses connections to PostgreSQL: no more than its pool, or one for each answer.

use std::{
    thread,
    time::{Duration, Instant},
};

use deadheat_model::stack::Pool;

use super::{Fault, Verifier, users::fault};

/// A pool may replace its connections, but not all the time: so many times its size may be opened in a load.
const REPLACED: u64 = 2;
/// A client without a pool may open its next connection while the server still ends the one before.
const OVERLAP: u32 = 2;
/// PostgreSQL notes a connection's end some time after the stack closed it. It only ends a broken check.
const ENDING: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

impl Verifier<'_> {
    /// Connections opened so far; `None` for a workload without a database, or where the server does not count them.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn sessions(&mut self) -> Result<Option<u64>, Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(None);
        }
        self.postgres()?.sessions().map_err(fault)
    }

    /// Checks that PostgreSQL has room for the stack's connections when `clients` ask at once.
    ///
    /// # Errors
    /// When it has not, or cannot be asked.
    pub fn check_room(&mut self, clients: u32) -> Result<(), Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(());
        }
        let (needed, why) = match self.declared.pool {
            Pool::Size(size) => (size, format!("a pool of {size}")),
            Pool::None => (
                clients * OVERLAP,
                format!("{clients} clients without a pool, whose connections overlap"),
            ),
        };
        let room = self.postgres()?.room().map_err(fault)?;
        if needed <= room.free {
            return Ok(());
        }
        Err(Fault::new(
            self.postgres()?.describe().to_owned(),
            "it takes as many connections as the stack may open",
            format!("{needed} free ones ({why})"),
            format!(
                "{} free ones of {}; raise max_connections, or omit the workload",
                room.free, room.most
            ),
        ))
    }

    /// Checks after `answers` right answers that the stack holds no more connections than it declares, and opened no
    /// more of them since `before` than a pool does, or as many as no pool does.
    ///
    /// # Errors
    /// When it does not, or the database cannot be asked.
    pub(crate) fn check_pool(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
    ) -> Result<(), Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(());
        }
        match self.declared.pool {
            Pool::Size(size) => self.check_pooled(asked, before, answers, size),
            // Of a mixed workload, not all answers take a connection.
            Pool::None if self.workload.oracle.table().is_none() => {
                self.check_unpooled(asked, before, 0)
            }
            Pool::None => self.check_unpooled(asked, before, answers),
        }
    }

    fn check_pooled(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
        size: u32,
    ) -> Result<(), Fault> {
        let most = u64::from(size) * REPLACED;
        if let Some(opened) = self.opened(before)?.filter(|opened| *opened > most) {
            return Err(Fault::new(
                asked.to_owned(),
                "a pool keeps its connections",
                format!("at most {most} new connections (a pool of {size}, each replaced once)"),
                format!("{opened} new connections for {answers} answers"),
            ));
        }
        let held = self.held()?;
        if held > size {
            return Err(Fault::new(
                asked.to_owned(),
                "the pool has the declared size",
                format!("at most {size} connections to PostgreSQL"),
                format!("{held} connections"),
            ));
        }
        Ok(())
    }

    fn check_unpooled(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
    ) -> Result<(), Fault> {
        let until = Instant::now() + ENDING;
        let (held, opened) = loop {
            let (held, opened) = (self.held()?, self.opened(before)?);
            let settled = held == 0 && opened.is_none_or(|opened| opened >= answers);
            if settled || Instant::now() > until {
                break (held, opened);
            }
            thread::sleep(POLL);
        };
        let expected = || "a connection for each answer (pool = \"none\")".to_owned();
        match opened {
            Some(opened) if opened < answers => Err(Fault::new(
                asked.to_owned(),
                "a stack without a pool connects for each request",
                expected(),
                format!("{answers} answers took {opened} connections"),
            )),
            _ if held > 0 => Err(Fault::new(
                asked.to_owned(),
                "a stack without a pool keeps no connection",
                "none to PostgreSQL after the last answer".to_owned(),
                format!("{held} that stayed open for {} s", ENDING.as_secs()),
            )),
            _ => Ok(()),
        }
    }

    /// Connections that it holds; 0 where that cannot be told from what others hold.
    fn held(&mut self) -> Result<u32, Fault> {
        let seat = self.seat;
        let held = self.postgres()?.connections_of(seat).map_err(fault)?;
        Ok(held.unwrap_or(0))
    }

    fn opened(&mut self, before: Option<u64>) -> Result<Option<u64>, Fault> {
        let now = self.sessions()?;
        Ok(before
            .zip(now)
            .map(|(before, now)| now.saturating_sub(before)))
    }
}
