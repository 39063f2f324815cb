//! Lines of a plan that several commands share: hosts, pinning, published tables, and why figures are unfit to publish.

use deadheat_document::{Document, Section, Tone};
use deadheat_model::{
    RepeatedTable,
    figure::{self, counted, some},
    heats::Plan,
    machine::{DatabaseHost, Hosts},
    plan::Pinning,
    published::RepeatedRow,
};
use deadheat_runner::agent::Launcher;

/// What a line of a plan is about, and what it says.
pub type Entry = (&'static str, String);

/// A plan: its headline, and its lines.
pub fn plan(headline: String, entries: Vec<Entry>) -> Document {
    Document::new(Tone::Plain, headline).section(Section::lead().facts(entries))
}

/// The published tables that are repeated, and what is left out of them.
pub(crate) fn published(tables: &[RepeatedTable]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for repeated in tables {
        let asked = repeated.rows.iter().filter(|row| row.cell().is_some());
        let text = format!(
            "{} {}: {} of {}",
            repeated.document,
            repeated.table.id,
            asked.count(),
            counted(repeated.rows.len(), "row")
        );
        entries.push(("published", text));
        for (plan, row) in repeated.rows.iter().zip(&repeated.table.row) {
            if let RepeatedRow::LeftOut { reason } = plan {
                entries.push(("", format!("without {}: {reason}", row.name)));
            }
        }
    }
    entries
}

/// `text` as one word.
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The number of hosts that are named; the rest is counted.
const NAMES: usize = 12;

/// The line about the other hosts, if there are any.
pub fn hosts(plan: &Plan) -> Option<Entry> {
    Some(("hosts", others(plan.hosts.as_ref()?)))
}

/// The other hosts: "loaded from h2 and h3, an equal share each; servers listen on 10.0.0.1; database on h4, which listens on
/// 10.0.0.4; reached by ssh".
fn others(hosts: &Hosts) -> String {
    let mut parts = Vec::new();
    if hosts.load_it() {
        let share = match hosts.generators.len() {
            1 => "",
            _ => ", an equal share each",
        };
        let names = some(&hosts.generators, NAMES);
        parts.push(format!("loaded from {names}{share}"));
        if !hosts.generator_cpus.is_empty() {
            let cpus = figure::cpus(&hosts.generator_cpus);
            parts.push(format!("each with a worker on {cpus}"));
        }
        parts.push(format!("servers listen on {}", hosts.address));
    }
    if let Some(database) = &hosts.database {
        let DatabaseHost { host, address, .. } = database;
        parts.push(format!("database on {host}, which listens on {address}"));
    }
    parts.push(format!("reached by {}", launcher(&hosts.launcher)));
    if let Some(agent) = &hosts.agent {
        parts.push(format!("{} runs there", agent.display()));
    }
    parts.join("; ")
}

/// How hosts are reached: the name of what is built in, or the whole command.
fn launcher(command: &str) -> &str {
    let built_in = [Launcher::ssh(), Launcher::srun(), Launcher::kubectl()];
    if built_in.iter().any(|one| one.to_string() == command) {
        command.split(' ').next().unwrap_or_default()
    } else {
        command
    }
}

/// How the CPUs of this machine are shared out.
pub fn pinning(plan: &Plan) -> String {
    match &plan.pinning {
        Pinning::Apart { server, generator } => format!(
            "server on {}; {} on {}",
            figure::cpus(server),
            figure::list(&plan.beside_servers()),
            figure::cpus(generator)
        ),
        Pinning::Off { cpus } if plan.is_loaded_elsewhere() => {
            format!("not pinned: the server has {}", figure::cpus(cpus))
        }
        Pinning::Off { cpus } if !plan.cpu_budgets().is_empty() => format!(
            "each server is pinned; the generator shares {} with it{}",
            figure::cpus(cpus),
            if plan.cpu_budgets().len() > 1 {
                ", so each gain is a lower bound"
            } else {
                ""
            }
        ),
        Pinning::Off { cpus } => format!(
            "not pinned: server and generator share {}",
            figure::cpus(cpus)
        ),
    }
}

/// What nobody else could build again: sources that are in no commit, `commit` being that of the checkout, and a Deadheat
/// that was built for its tests. Stacks that are part of Deadheat can be had with its version.
pub(crate) fn of_the_checkout(commit: Option<&str>, are_embedded: bool) -> Vec<String> {
    let sources = match commit {
        None if are_embedded => None,
        None => Some(
            "the stacks lie outside a git checkout: nobody can tell which sources were measured",
        ),
        Some(commit) if commit.ends_with("-dirty") => {
            Some("the checkout has changes that are not committed: nobody else has these sources")
        }
        Some(_) => None,
    };
    let slow = cfg!(debug_assertions).then_some(
        "this deadheat was built without optimisation: its generator is slow (cargo build --release)",
    );
    sources.into_iter().chain(slow).map(str::to_owned).collect()
}

/// These objections as lines of a plan.
pub(crate) fn unfit(objections: &[String]) -> impl Iterator<Item = Entry> {
    let objections = objections.iter();
    objections.map(|one| ("unfit", format!("to be published: {one}")))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_plan_says_who_loads_from_where_and_how() {
        let mut hosts = Hosts {
            generators: vec!["h2".to_owned(), "h3".to_owned()],
            database: None,
            launcher: Launcher::ssh().to_string(),
            agent: None,
            generator_cpus: Vec::new(),
            address: Ipv4Addr::new(10, 0, 0, 1).into(),
        };
        assert_eq!(
            others(&hosts),
            "loaded from h2 and h3, an equal share each; servers listen on 10.0.0.1; reached by ssh"
        );
        hosts.launcher = "ssh -p 2222 {host}".to_owned();
        hosts.agent = Some("/opt/deadheat".into());
        hosts.generator_cpus = vec![0, 1];
        assert_eq!(
            others(&hosts),
            "loaded from h2 and h3, an equal share each; each with a worker on CPUs 0 and 1; servers listen on \
         10.0.0.1; reached by ssh -p 2222 {host}; /opt/deadheat runs there"
        );
    }
}
