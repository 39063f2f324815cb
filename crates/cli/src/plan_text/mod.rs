//! Words that plans share.

mod publication;
mod words;

use deadheat_model::{
    RepeatedTable,
    heats::Plan,
    hosts::{DatabaseHost, Hosts},
    plan::Pinning,
    published::RepeatedRow,
    words::counted,
};

pub(crate) use self::{
    publication::{of_the_checkout, told},
    words::{about, entry, glued, length},
};

/// The published tables that are repeated, and what is left out of them.
pub(crate) fn published(tables: &[RepeatedTable]) -> String {
    let mut lines = Vec::new();
    for repeated in tables {
        let asked = repeated.rows.iter().filter(|row| row.cell().is_some());
        lines.push(format!(
            "  published {} {}: {} of {}",
            repeated.document,
            repeated.table.id,
            asked.count(),
            counted(repeated.rows.len(), "row")
        ));
        for (plan, row) in repeated.rows.iter().zip(&repeated.table.row) {
            if let RepeatedRow::LeftOut { reason } = plan {
                lines.push(format!("            without {}: {reason}", row.name));
            }
        }
    }
    lines.join("\n")
}

/// Of more hosts than these some are a number.
const NAMES: usize = 12;

/// The lines about the other hosts, if there are any.
pub(crate) fn hosts(plan: &Plan) -> Vec<String> {
    let others = plan.hosts.as_ref().map(others);
    others.map_or_else(Vec::new, |others| entry("hosts", &others))
}

/// The other hosts: "loaded from h2, h3, an equal share each; servers listen on 10.0.0.1; database on h4, reached by ssh".
fn others(hosts: &Hosts) -> String {
    let mut parts = Vec::new();
    if hosts.load_it() {
        let share = match hosts.generators.len() {
            1 => "",
            _ => ", an equal share each",
        };
        let names = listed(&hosts.generators, NAMES);
        parts.push(format!("loaded from {names}{share}"));
        parts.push(format!("servers listen on {}", hosts.address));
    }
    if let Some(database) = &hosts.database {
        let DatabaseHost { host, address, .. } = database;
        parts.push(format!("database on {host}, which listens on {address}"));
    }
    let program = hosts.launcher.split(' ').next().unwrap_or_default();
    parts.push(format!("reached by {program}"));
    parts.join("; ")
}

/// The names, of more than `most` the first ones, and how many more.
pub(crate) fn listed(names: &[String], most: usize) -> String {
    match names.len() {
        0 => "none".to_owned(),
        all if all > most => format!("{}, and {} more", names[..most].join(", "), all - most),
        _ => names.join(", "),
    }
}

/// How the CPUs of this machine are shared out.
pub(crate) fn pinning(plan: &Plan) -> String {
    match &plan.pinning {
        Pinning::Apart { server, generator } => format!(
            "server on {}; {} on {}",
            list(server),
            with_and(&plan.beside_servers()),
            list(generator)
        ),
        Pinning::Off { cpus } if plan.is_loaded_elsewhere() => {
            format!("not pinned: the server has {}", list(cpus))
        }
        Pinning::Off { cpus } => format!("not pinned: server and generator share {}", list(cpus)),
    }
}

fn list(cpus: &[usize]) -> String {
    let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
    format!("CPU {}", numbers.join(", "))
}

/// "a", "a and b", "a, b and c".
fn with_and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
