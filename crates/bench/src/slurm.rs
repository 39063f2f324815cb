//! The nodes of a Slurm job.

use std::{env, net::IpAddr, process::Command};

use deadheat_shell::{exit::CommandFailure, hosts::resolved};

/// A node of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// As Slurm calls it.
    pub(crate) name: String,
    /// Where the others reach it.
    pub(crate) address: IpAddr,
}

/// The name of the node that this process runs on; empty outside a job of Slurm.
fn own() -> String {
    env::var("SLURMD_NODENAME").unwrap_or_default()
}

/// The names of all nodes of the job that this process runs in.
fn names() -> Result<Vec<String>, CommandFailure> {
    let list = env::var("SLURM_JOB_NODELIST").map_err(|_| {
        CommandFailure::usage(
            "--slurm: this is not a job of Slurm (SLURM_JOB_NODELIST is not set); run it by sbatch \
             (docs/hosts.md has a script)",
        )
    })?;
    let hostnames = asked(&["scontrol", "show", "hostnames", &list])?;
    Ok(hostnames.split_whitespace().map(str::to_owned).collect())
}

/// The nodes of the job that this process runs in, without its own.
///
/// # Errors
/// When there is no job, this process runs on none of its nodes, or it has no other one.
pub(crate) fn others() -> Result<Vec<Node>, CommandFailure> {
    let names = names()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let others = without(&names, &own())?;
    let node = |name: &&str| {
        let known = asked(&["scontrol", "show", "node", name, "--oneliner"])?;
        let address = field(&known, "NodeAddr").unwrap_or(name);
        let found = resolved(address);
        let found = found.map_err(|error| {
            CommandFailure::usage(format!(
                "--slurm: the address {address} of {name} is unusable ({error})"
            ))
        })?;
        Ok(Node {
            name: (*name).to_owned(),
            address: found,
        })
    };
    others.iter().map(node).collect()
}

fn without<'a>(names: &[&'a str], own: &str) -> Result<Vec<&'a str>, CommandFailure> {
    let others: Vec<&str> = names.iter().copied().filter(|name| *name != own).collect();
    if others.len() == names.len() {
        return Err(CommandFailure::usage(format!(
            "--slurm: this process runs on none of the job's nodes ({}), where the servers are to run; start it on \
             one with `srun --nodes=1 --ntasks=1 deadheat run --slurm …`",
            names.join(", ")
        )));
    }
    if others.is_empty() {
        return Err(CommandFailure::usage(format!(
            "--slurm: the job has no node but {own}; ask for two or more with --nodes"
        )));
    }
    Ok(others)
}

/// The value of a field in what scontrol prints.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut fields = text
        .split_whitespace()
        .filter_map(|field| field.split_once('='));
    fields.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn asked(words: &[&str]) -> Result<String, CommandFailure> {
    let shown = words.join(" ");
    tracing::info!("{shown}");
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output =
        output.map_err(|error| CommandFailure::usage(format!("--slurm: `{shown}`: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(CommandFailure::usage(format!(
        "--slurm: `{shown}` {}: {}",
        output.status,
        said.trim()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_are_all_but_the_node_of_this_process() {
        let names = ["n1", "n2", "n3"];
        assert_eq!(without(&names, "n2").unwrap(), ["n1", "n3"]);
        let error = without(&names, "login").unwrap_err().to_string();
        assert!(
            error.contains("none of the job's nodes (n1, n2, n3)"),
            "{error}"
        );
        let error = without(&["n1"], "n1").unwrap_err().to_string();
        assert!(error.contains("--nodes"), "{error}");
    }

    #[test]
    fn the_address_of_a_node_is_read() {
        let text = "NodeName=h2 Arch=x86_64 NodeAddr=10.0.0.2 NodeHostName=h2 Version=22";
        assert_eq!(field(text, "NodeAddr"), Some("10.0.0.2"));
        assert_eq!(field(text, "Nothing"), None);
    }
}
