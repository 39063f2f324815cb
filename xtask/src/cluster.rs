//! Several hosts on one machine: the tests that need network namespaces, and an sshd in each.

use std::process::{Command, Stdio};

use crate::project::compiling;
use crate::steps::{Lack, Steps};

/// What they need, and Debian's package of it.
const PROGRAMS: [(&str, &str); 8] = [
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("ssh", "openssh-client"),
    ("/usr/sbin/sshd", "openssh-server"),
    ("salloc", "slurm-client"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("munged", "munge"),
];
/// A namespace that is made to see whether one can be.
const TRIAL: &str = "deadheat-trial";

/// Runs them, one after the other. Those that failed are for [`cluster_again`].
pub(crate) fn cluster(steps: &Steps) -> Vec<String> {
    if let Err(because) = possible() {
        steps.not_tested(Lack::new("cluster", &because));
        return Vec::new();
    }
    steps.run_tests("several hosts", tests(&["cluster::"]))
}

/// Runs those that failed beside other steps once more.
pub(crate) fn cluster_again(steps: &Steps, failed: &[String]) {
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(String::as_str).collect();
        let mut tests = tests(&names);
        tests.arg("--exact");
        steps.run("several hosts, tests that failed, again, alone", tests);
    }
}

fn tests(names: &[&str]) -> Command {
    let mut tests = compiling(&["test", "--workspace", "--quiet", "--test", "cli", "--"]);
    tests.args(["--ignored", "--test-threads=1"]).args(names);
    tests
}

fn possible() -> Result<(), String> {
    for (program, package) in PROGRAMS {
        let there = Command::new("sh")
            .args(["-c", "command -v \"$0\"", program])
            .stdout(Stdio::null())
            .status();
        if !there.is_ok_and(|status| status.success()) {
            return Err(format!("{program} is missing (Debian: {package})"));
        }
    }
    let netns = |what: &str| {
        let output = Command::new("ip").args(["netns", what, TRIAL]).output();
        let output = output.map_err(|error| format!("ip netns {what}: {error}"))?;
        if output.status.success() {
            Ok(())
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("ip netns {what}: {}", said.trim()))
        }
    };
    netns("add")?;
    netns("delete")
}
