//! When is a server ready? At its first correct answer, asked in the same way whatever is measured, so that the
//! time to it can be compared.

use std::{fs, io::ErrorKind, net::TcpStream, sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{LoadPoint, WorkloadManifest, workload::Oracle};

use super::SelectedTarget;
use crate::{
    process::{descendants, listening_sockets},
    verify::{Client, Fault, Route, text_answer},
};

/// How long one attempt may take; a server that has just begun to listen may need a moment.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(2);

/// Why a server is not ready.
#[derive(Debug)]
pub struct NotReady {
    /// What came instead of a right answer.
    pub reason: String,
    /// Whether it will not be ready later, either.
    pub is_refusal: bool,
    /// Whether it answered, and wrongly.
    pub is_answer: bool,
}

impl From<Fault> for NotReady {
    fn from(fault: Fault) -> Self {
        Self {
            reason: fault.to_string(),
            is_refusal: fault.is_refusal,
            is_answer: fault.is_answer(),
        }
    }
}

/// The question whose right answer makes a server ready.
#[derive(Clone, Debug)]
pub struct Readiness {
    path: String,
    body: Option<String>,
}

impl Readiness {
    /// The plaintext workload's question when the stack answers that, else `workload`'s path, which only has to be answered
    /// here (the check that follows looks at the rest).
    pub fn new(
        plaintext: Option<&WorkloadManifest>,
        target: &SelectedTarget,
        workload: &WorkloadManifest,
        point: &LoadPoint,
    ) -> Self {
        let manifest = &target.stack.manifest;
        let answered = plaintext.filter(|one| manifest.answers(one));
        let chosen = answered.unwrap_or(workload);
        let path = manifest.path_of(chosen);
        Self {
            path: match answered {
                Some(_) => path.to_owned(),
                None => point.fill(path),
            },
            body: match &chosen.oracle {
                Oracle::Text { body } => Some(body.clone()),
                _ => None,
            },
        }
    }

    /// Asks once. Setting `stop` ends the wait for the answer.
    ///
    /// # Errors
    /// Why it is not ready yet.
    pub fn probe(&self, route: Route, stop: &AtomicBool) -> Result<(), NotReady> {
        // A refused connection is the usual answer so far, and cheaper to find out this way.
        TcpStream::connect_timeout(&route.address, ATTEMPT).map_err(|error| NotReady {
            reason: format!("connecting: {error}"),
            is_refusal: false,
            is_answer: false,
        })?;
        let mut client = Client::with_timeout(route, ATTEMPT, stop);
        Ok(text_answer(&mut client, &self.path, self.body.as_deref())?)
    }
}

/// Whether a process below `supervisor` listens on `port`: a server that answers rightly must also be the one that was
/// started. When `/proc` cannot tell, it is believed.
pub(super) fn belongs_to_tree(port: u16, supervisor: u32) -> bool {
    let listening = listening_sockets(port);
    if listening.is_empty() {
        return true;
    }
    descendants(supervisor).iter().any(|process| {
        let files = match fs::read_dir(format!("/proc/{}/fd", process.pid)) {
            Ok(files) => files,
            // Those of a program with file capabilities(7) can be read by root alone.
            Err(error) => return error.kind() == ErrorKind::PermissionDenied,
        };
        files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|link| link.to_str().is_some_and(|link| listening.contains(link)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::{point, selected, workload};

    #[test]
    fn a_port_of_this_process_is_not_a_childs() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert!(!belongs_to_tree(port, std::process::id()));
    }

    #[test]
    fn the_numbers_of_a_load_point_are_in_the_path_of_its_own_workload_alone() {
        let text = Oracle::Text {
            body: String::new(),
        };
        let plaintext = workload("plaintext", text).manifest;
        let hash = WorkloadManifest {
            path: "/bytes?rounds=".to_owned(),
            ..workload("hash", Oracle::DigestChain).manifest
        };
        let point = LoadPoint {
            queries: Some(20),
            ..point("q20")
        };
        let target = selected("go");
        let path = |plaintext| Readiness::new(plaintext, &target, &hash, &point).path;
        assert_eq!(path(Some(&plaintext)), "/");
        assert_eq!(path(None), "/bytes?rounds=20");
    }
}
