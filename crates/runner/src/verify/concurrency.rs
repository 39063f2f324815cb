//! Many connections at once, each with several requests: whether all are answered, each with its own answer.

use std::{net::SocketAddr, sync::Barrier, thread};

use deadheat_model::stack::Http;

use super::{
    Fault, PATIENCE, Verifier, connections::judged, question::Question, wire::ProbeConnection,
};

/// Connections at once.
pub const CONNECTIONS: usize = 64;
/// Requests on each of them, one after the other.
const EACH: usize = 3;

const RULE: &str = "connections at once are all answered, each with its own answer";

impl Verifier<'_> {
    pub(super) fn verify_crowd(&mut self) -> Result<(), Fault> {
        let questions = self.questions(CONNECTIONS * EACH)?;
        let counted = self.service_count()?;
        let sessions = self.sessions()?;
        ask_together(self.address, self.declared.http, &questions)?;
        self.passed += questions.len() as u32;
        let answers = questions.len() as u64;
        let asked = format!(
            "{} over {CONNECTIONS} connections at once",
            self.workload.id
        );
        self.expect_service_count(&asked, counted, answers..=answers)?;
        self.check_pool(&asked, sessions, answers)
    }
}

/// Asks all of `questions` over up to [`CONNECTIONS`] connections at once: each asks its next one when it has an answer.
///
/// # Errors
/// The first wrong answer of the first connection that got one.
pub(super) fn ask_together(
    address: SocketAddr,
    declared: Http,
    questions: &[Question],
) -> Result<(), Fault> {
    let each = questions.len().div_ceil(CONNECTIONS).max(1);
    let size = questions.len().div_ceil(each);
    let crowd = &Crowd {
        address,
        keep_alive: declared.keep_alive,
        size,
        together: Barrier::new(size),
    };
    thread::scope(|scope| {
        let clients = questions.chunks(each).enumerate();
        let clients: Vec<_> = clients
            .map(|(index, own)| scope.spawn(move || crowd.client(index, own)))
            .collect();
        let results = clients.into_iter().map(|client| {
            let joined = client.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        // All of them are waited for.
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Clients that ask one server at once.
struct Crowd {
    address: SocketAddr,
    keep_alive: bool,
    size: usize,
    /// Where they wait for each other when they have connected.
    together: Barrier,
}

impl Crowd {
    /// One of them: connects, waits for the others, and asks its questions.
    fn client(&self, index: usize, questions: &[Question]) -> Result<(), Fault> {
        let connect = || ProbeConnection::open(self.address, PATIENCE);
        let first = connect();
        self.together.wait();
        let mut open = Some(first);
        for (round, question) in questions.iter().enumerate() {
            let asked = format!(
                "{}, request {} on connection {} of {} at once",
                question.name(),
                round + 1,
                index + 1,
                self.size
            );
            let reply = open.take().unwrap_or_else(connect).and_then(|mut wire| {
                let reply = wire.ask(&question.request)?;
                // Whether it may close is another rule's affair.
                open = (self.keep_alive && reply.keeps).then_some(Ok(wire));
                Ok(reply)
            });
            judged(question, &asked, RULE, reply)?;
        }
        Ok(())
    }
}
