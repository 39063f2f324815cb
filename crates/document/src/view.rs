//! What the reports of sessions, comparisons and loads have in common: text that is fit to be shown, names, and facts:
//! when, where and from what the figures come.

use std::fmt;

use deadheat_model::{
    LoadPoint,
    figure::{self, bytes, count, counted, seconds},
    heats::SessionHeader,
    load::words,
    machine::{HostRecord, HostRole, Machine},
    plan::Pinning,
    session::{Phase, TargetRecord, TargetState},
    stack::{Class, Database, DatabaseIo, DatabaseLayer, Pool, Runtime, StackRole},
    workload::{Framing, OfferedRate, Sending},
};
use schemars::JsonSchema;
use serde::Serialize;

/// One line in which control characters, and those that change the direction of writing, are replaced by their code points.
/// Without this a log could move the reader's cursor, or show another order of words than it has.
pub fn clean(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => line.push_str("    "),
            // The ends of an answer's lines, as programmers know them.
            '\r' => line.push_str("\\r"),
            '\n' => line.push_str("\\n"),
            c if c.is_control() || turns_direction(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

const fn turns_direction(character: char) -> bool {
    matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Lines of a log, each cleaned; a run of equal ones is one line that says how many.
pub fn clean_log(lines: &[String]) -> Vec<String> {
    let runs = lines.chunk_by(|one, next| one == next);
    runs.map(|run| match run.len() {
        1 => clean(&run[0]),
        count => format!("{} (×{count})", clean(&run[0])),
    })
    .collect()
}

/// The workload and its load, for a heading.
pub fn title(workload: &str, point: &LoadPoint) -> String {
    clean(&format!("{workload}, {}", load(point)))
}

/// A load, in words.
pub fn load(point: &LoadPoint) -> String {
    let rounds = point
        .rounds
        .map(|rounds| format!(", {}", counted(rounds as usize, "round")))
        .unwrap_or_default();
    let how = sending(point.sending);
    let connections = point.connections_in_words();
    let open = point.open.as_ref().map(|open| match open.rate {
        OfferedRate::Common => ", the same rate for all".to_owned(),
        OfferedRate::PerSecond(rate) => format!(", {} requests/s for all", count(rate.into())),
    });
    format!("{connections}{rounds}{how}{}", open.unwrap_or_default())
}

/// How requests are sent, after a comma; nothing if that is as usual.
fn sending(sending: Sending) -> String {
    if sending.is_usual() {
        return String::new();
    }
    let reuse = words::reuse(sending.reuse);
    let bodies = match sending.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(", HTTP/{}, {reuse}{bodies}", sending.http)
}

/// A named fact.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The fact.
    pub value: String,
}

impl Fact {
    /// A fact from a name and a value, both made harmless.
    pub fn new(name: &str, value: impl AsRef<str>) -> Self {
        Self {
            name: clean(name),
            value: clean(value.as_ref()),
        }
    }

    /// Name and value.
    pub fn pair(&self) -> (&str, &str) {
        (&self.name, &self.value)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.value)
    }
}

/// "failed while starting", "failed under load".
fn failed(phase: Phase) -> String {
    match phase {
        Phase::Load => format!("failed {}", phase.describe()),
        _ => format!("failed while {}", phase.describe()),
    }
}

/// The machine of the servers, how its CPUs were shared out, and the other hosts.
pub fn machine_facts(header: &SessionHeader) -> Vec<Fact> {
    let machine = &header.machine;
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push(Fact::new(name, value));
    fact("Processor", machine.cpu_model.clone());
    fact("CPUs", usable_cpus(machine));
    fact("Pinning", pinning(header));
    fact("Memory", bytes(machine.memory_bytes as f64));
    fact("System", machine.os.clone());
    fact("Kernel", machine.kernel.clone());
    let governor = || "none known".to_owned();
    fact(
        "Frequency governor",
        machine.governor.clone().unwrap_or_else(governor),
    );
    if let Some(name) = &machine.congestion_control {
        fact("Congestion control", name.clone());
    }
    fact("Mitigations", or_none(machine.mitigations.join("; ")));
    if let Some(hosts) = &header.plan.hosts {
        fact("Servers listened on", hosts.address.to_string());
        for host in &header.hosts {
            let role = match host.role {
                HostRole::Generator => "Generator",
                HostRole::Database => "Database",
            };
            fact(role, self::host(host));
        }
    }
    facts
}

/// Another host.
fn host(host: &HostRecord) -> String {
    let machine = &host.machine;
    let name = if host.host == host.name {
        host.host.clone()
    } else {
        format!("{} ({})", host.host, host.name)
    };
    format!(
        "{name}: {}, {}, kernel {}; round trip {}",
        machine.cpu_model,
        figure::counted(machine.cpus.len(), "CPU"),
        machine.kernel,
        seconds(host.round_trip_seconds)
    )
}

fn pinning(header: &SessionHeader) -> String {
    let elsewhere = header.plan.is_loaded_elsewhere();
    match &header.plan.pinning {
        Pinning::Off { cpus } if elsewhere => {
            format!("off: the server may use {}", figure::cpus(cpus))
        }
        Pinning::Off { cpus } if !header.plan.cpu_budgets().is_empty() => format!(
            "each server on the first CPUs of {}, which everything else used as well",
            figure::cpus(cpus)
        ),
        Pinning::Off { cpus } => format!("off: everything shares {}", figure::cpus(cpus)),
        Pinning::Apart { server, generator } => {
            let one_core = match (server.len(), generator.len()) {
                (1, 1) => "; the server has one CPU, the generator the other",
                (1, _) => "; the server has one CPU",
                _ => "",
            };
            format!(
                "server on {}; {} and sampling on {}{one_core}",
                figure::cpus(server),
                header.plan.beside_servers().join(", "),
                figure::cpus(generator)
            )
        }
    }
}

/// "4 usable: 0, 1, 2 and 3; threads of one core: 0 and 2, 1 and 3".
fn usable_cpus(machine: &Machine) -> String {
    let usable = format!(
        "{} usable: {}",
        machine.cpus.len(),
        or_none(figure::list(&machine.cpus))
    );
    let cores = machine.shared_cores.iter();
    let cores: Vec<String> = cores.map(|cpus| figure::list(cpus)).collect();
    if cores.is_empty() {
        usable
    } else {
        format!("{usable}; threads of one core: {}", cores.join(", "))
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        "none known".to_owned()
    } else {
        text
    }
}

fn database(database: &Database) -> String {
    let kind: Vec<&str> = [io(database.io)]
        .into_iter()
        .chain(layer(database.layer))
        .collect();
    let kind = kind.join(", ");
    let connections = match database.pool {
        Pool::Size(size) => format!("{size} pooled connections"),
        Pool::None => "a connection per request".to_owned(),
    };
    clean(&format!("{} ({kind}), {connections}", database.driver))
}

/// How a stack reaches the database: "none", or the driver, its kind and its connections.
pub fn database_access(target: &TargetRecord) -> String {
    target.database.as_ref().map_or("none".to_owned(), database)
}

/// What is known of a stack, in a line: its kind, how its code is executed, versions, its database, its build, what the
/// variant changes, and limits.
pub fn stack_facts(target: &TargetRecord) -> String {
    let versions: Vec<String> = target
        .versions
        .iter()
        .map(|found| clean(&format!("{} {}", found.name, found.version)))
        .collect();
    let build = match &target.state {
        TargetState::Ready { build } if build.seconds == 0.0 => {
            format!(
                "nothing to build, {} to deploy",
                bytes(build.artefact_bytes as f64)
            )
        }
        TargetState::Ready { build } => format!(
            "{}{}, {} to deploy",
            seconds(build.seconds),
            if build.incremental {
                " (incremental)"
            } else {
                ""
            },
            bytes(build.artefact_bytes as f64)
        ),
        TargetState::Unavailable { .. } => "not built: unavailable".to_owned(),
        TargetState::Failed(failure) => failed(failure.phase),
    };
    let kind: Vec<&str> = [class(target.class)]
        .into_iter()
        .chain(role(target.role))
        .collect();
    let from = target.added.as_ref();
    let from = from.map(|added| format!(", from {}", added.folder.display()));
    let limits = target.variant_description.iter().chain(&target.limits);
    let limits = limits.map(|limit| format!("; {}", clean(limit)));
    let what = format!(
        "{}: {}, {} ({}){}",
        target.target,
        target.language,
        target.framework,
        kind.join(", "),
        from.unwrap_or_default()
    );
    format!(
        "{}, {}; {}; database: {}; build: {build}{}",
        clean(&what),
        runtime(target.runtime),
        or_none(versions.join(", ")),
        database_access(target),
        limits.collect::<String>()
    )
}

/// How code is executed.
pub const fn runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Native => "compiled ahead of time",
        Runtime::Jit => "compiled while it runs",
        Runtime::Interpreted => "interpreted",
    }
}

/// How much a framework provides.
pub const fn class(class: Class) -> &'static str {
    match class {
        Class::Platform => "platform",
        Class::Micro => "micro-framework",
        Class::FullStack => "full-stack framework",
    }
}

/// What a stack takes part as, if that is not what most do.
pub const fn role(role: StackRole) -> Option<&'static str> {
    match role {
        StackRole::Stack => None,
        StackRole::Yardstick => Some("yardstick"),
        StackRole::Historic => Some("no longer maintained"),
    }
}

/// What a request does while it waits for the database.
pub const fn io(io: DatabaseIo) -> &'static str {
    match io {
        DatabaseIo::Async => "asynchronous",
        DatabaseIo::Blocking => "blocking",
    }
}

/// What is between the application and its database driver, if there is anything.
pub const fn layer(layer: DatabaseLayer) -> Option<&'static str> {
    match layer {
        DatabaseLayer::Raw => None,
        DatabaseLayer::Micro => Some("micro-ORM"),
        DatabaseLayer::Orm => Some("ORM"),
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_log};

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(clean("\u{1b}[2Jgone\r\n"), "\\u{1b}[2Jgone\\r\\n");
        assert_eq!(clean("a\u{202e}b"), "a\\u{202e}b");
        let log = ["same", "same", "other"].map(str::to_owned);
        assert_eq!(clean_log(&log), ["same (×2)", "other"]);
        assert_eq!(clean("Größe 大小\t<b>"), "Größe 大小    <b>");
    }
}
