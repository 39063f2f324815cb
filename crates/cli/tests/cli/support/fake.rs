//! Stacks that are one Python script with a fault.

use std::{path::PathBuf, process::Command, sync::OnceLock};

/// The server of every fake stack.
pub const SERVER: &str = include_str!("../fake_server.py");

/// A stack to be written into a root folder.
pub struct Fake {
    pub id: String,
    fault: &'static str,
    workloads: Vec<&'static str>,
    sections: String,
}

impl Fake {
    /// A stack that does everything rightly.
    pub fn good(id: &str) -> Self {
        Self::faulty(id, "none")
    }

    /// A stack with one of the faults in `fake_server.py`.
    pub fn faulty(id: &str, fault: &'static str) -> Self {
        assert!(
            fault == "none" || SERVER.contains(&format!("\"{fault}\"")),
            "fake_server.py has no fault `{fault}`"
        );
        Self {
            id: id.to_owned(),
            fault,
            workloads: vec!["plaintext"],
            sections: String::new(),
        }
    }

    /// Says that it answers these workloads (it answers plaintext alone).
    pub fn claiming(mut self, workloads: &[&'static str]) -> Self {
        self.workloads = workloads.to_vec();
        self
    }

    /// With more tables in its manifest.
    pub fn with(mut self, sections: &str) -> Self {
        self.sections += sections;
        self
    }

    pub fn manifest(&self) -> String {
        let Self {
            id,
            fault,
            workloads,
            sections,
        } = self;
        let python = python();
        format!(
            r#"id = "{id}"
language = "Python"
framework = "fake"
class = "micro"
runtime = "native"
workloads = {workloads:?}

[database]
io = "blocking"
layer = "raw"
driver = "none"
pool = "none"

[run]
command = [{python:?}, "-I", "-S", "server.py"]
env = {{ FAULT = "{fault}" }}

{sections}"#
        )
    }
}

/// The interpreter itself: what is on the PATH may be a script that looks for it at every start.
fn python() -> PathBuf {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let asked = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .unwrap_or_else(|error| {
                panic!("running python3, which the fake stacks need: {error}; install it (Debian: apt install python3)")
            });
        assert!(
            asked.status.success(),
            "asking python3 where it is: {asked:?}"
        );
        PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim())
    };
    PYTHON.get_or_init(find).clone()
}
