//! `deadheat stacks list`: what there is, and what it lacks here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use deadheat_document::{Column, Document, Section, Table, Tone, json::Body};
use deadheat_model::{
    StackProtocol, TargetId,
    session::FoundVersion,
    stack::{
        self, Class, Database, DatabaseIo, DatabaseLayer, Http, Runtime, StackManifest, StackRole,
    },
};
use deadheat_runner::{
    manifest::{self, Stack},
    prepare::{Host, Inspection, Unavailable, inspect_all, is_built},
    session::{self, PinningMode},
};
use deadheat_shell::{
    data::{self, Format},
    exit::{CommandFailure, Exit},
    invocation::{self, supervision},
};
use serde::Serialize;

use crate::{
    options::ListArgs,
    select,
    setup::{check_interrupt, looking},
};

pub(crate) fn list(args: &ListArgs) -> Result<Exit, CommandFailure> {
    let sink = args.data.open()?;
    let catalogue = select::catalogue(&args.place)?;
    let wanted =
        manifest::select_targets(&catalogue, &args.stacks).map_err(CommandFailure::usage)?;
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    let host = Host::here(supervision(), &interrupted);
    let pinning = session::share_out(PinningMode::Apart);
    let stacks: Vec<&Stack> = catalogue
        .stacks
        .iter()
        .filter(|stack| wanted.iter().any(|one| one.stack == stack.manifest.id))
        .collect();
    let found = looking(stacks.len(), |tell| inspect_all(&host, &stacks, tell));
    let mut rows = Vec::new();
    for (stack, inspection) in stacks.into_iter().zip(&found) {
        let targets = stack.manifest.targets().into_iter();
        for target in targets.filter(|target| wanted.contains(target)) {
            let missing = inspection.availability(&host, stack, &target, &pinning);
            rows.push(Row::new(stack, &target, inspection, missing));
        }
    }
    check_interrupt(&host, "interrupted before all toolchains were found")?;
    let text = match sink.format {
        Format::Json => data::json(&ListReport::new(&rows))?,
        _ => document(&rows).text(sink.screen()),
    };
    sink.write(&text)?;
    Ok(Exit::Fine)
}

/// A stack under one of its variants.
#[derive(Clone, Debug)]
struct Row {
    manifest: StackManifest,
    target: TargetId,
    folder: PathBuf,
    versions: Vec<FoundVersion>,
    state: Availability,
}

/// Whether it can be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
enum Availability {
    /// It was built here before, and what was made is still there.
    Built,
    /// What it needs is here; it is built when it is used.
    Ready,
    /// Something that it needs is not here.
    Unavailable(Unavailable),
}

impl Row {
    fn new(
        stack: &Stack,
        target: &TargetId,
        inspection: &Inspection,
        missing: Option<Unavailable>,
    ) -> Self {
        Self {
            manifest: stack.manifest.clone(),
            target: target.clone(),
            folder: stack.dir.clone(),
            versions: inspection.versions(target),
            state: match missing {
                Some(unavailable) => Availability::Unavailable(unavailable),
                None if is_built(stack) => Availability::Built,
                None => Availability::Ready,
            },
        }
    }

    fn database(&self) -> Option<&Database> {
        self.manifest.database(&self.target)
    }

    fn for_programs(&self) -> ListedStack<'_> {
        let Row {
            manifest, target, ..
        } = self;
        let variant = manifest.variant_of(target);
        ListedStack {
            target,
            stack: &target.stack,
            variant: target.variant.as_deref(),
            variant_description: variant.map(|variant| variant.description.as_str()),
            language: &manifest.language,
            framework: &manifest.framework,
            class: manifest.class,
            role: manifest.role,
            runtime: manifest.runtime(target),
            workloads: manifest.workloads.as_deref(),
            cpus: variant.and_then(|variant| variant.cpus),
            database: self.database(),
            http: manifest.http(target),
            protocols: manifest
                .protocols(target)
                .iter()
                .map(StackProtocol::key)
                .collect(),
            limits: manifest.limits(target),
            command: manifest.command(target),
            env: manifest.env(target, None),
            workload_env: &manifest.run.workload_env,
            folder: &self.folder,
            versions: &self.versions,
            state: &self.state,
        }
    }
}

/// What `stacks list --json` prints; docs/formats.md describes it.
#[derive(Serialize)]
struct ListReport<'a> {
    stacks: Vec<ListedStack<'a>>,
}

impl Body for ListReport<'_> {
    const FORMAT: &'static str = "deadheat-stacks";
    const SCHEMA: u32 = 1;
}

impl<'a> ListReport<'a> {
    fn new(rows: &'a [Row]) -> Self {
        Self {
            stacks: rows.iter().map(Row::for_programs).collect(),
        }
    }
}

/// A stack under one of its variants.
#[derive(Serialize)]
struct ListedStack<'a> {
    target: &'a TargetId,
    stack: &'a str,
    variant: Option<&'a str>,
    variant_description: Option<&'a str>,
    language: &'a str,
    framework: &'a str,
    class: Class,
    role: StackRole,
    runtime: Runtime,
    /// `None`: all of them.
    workloads: Option<&'a [String]>,
    cpus: Option<u32>,
    database: Option<&'a Database>,
    http: Http,
    protocols: Vec<&'static str>,
    limits: Vec<String>,
    command: &'a [String],
    env: BTreeMap<String, String>,
    workload_env: &'a BTreeMap<String, BTreeMap<String, String>>,
    folder: &'a Path,
    versions: &'a [FoundVersion],
    state: &'a Availability,
}

/// The list, with the number of stacks that can be measured as its headline.
fn document(rows: &[Row]) -> Document {
    let mut table = Table::new([
        Column::left("stack"),
        Column::left("variant"),
        Column::left("state"),
        Column::left("database"),
        Column::right("pool"),
    ]);
    for rows in rows.chunk_by(|one, next| one.target.stack == next.target.stack) {
        for (index, row) in rows.iter().enumerate() {
            let database = row.database();
            table.row([
                if index == 0 {
                    row.target.stack.as_str()
                } else {
                    ""
                },
                row.target.variant.as_deref().unwrap_or_default(),
                match row.state {
                    Availability::Built => "built",
                    Availability::Ready => "ready",
                    Availability::Unavailable(_) => "unavailable",
                },
                &database.map_or(String::new(), kind),
                &database.map_or(String::new(), |database| database.pool.to_string()),
            ]);
        }
        notes(&mut table, rows);
    }
    Document::new(Tone::Plain, total(rows)).section(Section::new("Stacks").table(table))
}

/// "async", "blocking orm".
fn kind(database: &stack::Database) -> String {
    let io = match database.io {
        DatabaseIo::Async => "async",
        DatabaseIo::Blocking => "blocking",
    };
    let layer = match database.layer {
        DatabaseLayer::Raw => "",
        DatabaseLayer::Micro => " micro",
        DatabaseLayer::Orm => " orm",
    };
    format!("{io}{layer}")
}

/// Adds the notes below a stack's variants: what it is made of, and what it lacks here.
fn notes(table: &mut Table, rows: &[Row]) {
    let manifest = &rows[0].manifest;
    let what = format!("{} {}", manifest.language, manifest.framework);
    let parts: Vec<Vec<String>> = rows.iter().map(self::parts).collect();
    let is_common = |part: &String| parts.iter().all(|parts| parts.contains(part));
    let common = parts[0].iter().filter(|part| is_common(part));
    let common: Vec<&str> = common.map(String::as_str).collect();
    table.note(
        "- ",
        match common.as_slice() {
            [] => what,
            common => format!("{what}: {}", common.join(", ")),
        },
    );
    let own = grouped(rows, |row| {
        let mut own = self::parts(row);
        own.retain(|part| !is_common(part));
        own.join(", ")
    });
    for (names, own) in own.into_iter().filter(|(_, own)| !own.is_empty()) {
        table.note("- ", names + &own);
    }
    let reasons = grouped(rows, |row| match &row.state {
        Availability::Unavailable(unavailable) => Some(unavailable.clone()),
        _ => None,
    });
    for (names, missing) in reasons {
        if let Some(Unavailable { reason, remedy }) = missing {
            table.note("- ", format!("{names}unavailable: {reason}"));
            table.command(format!("to change that: {remedy}"));
        }
    }
}

/// What a variant is made of: its database driver, and programs with their versions.
fn parts(row: &Row) -> Vec<String> {
    let driver = row
        .database()
        .map(|database| format!("driver {}", database.driver));
    let versions = row.versions.iter();
    let versions = versions.map(|found| format!("{} {}", found.name, found.version));
    driver.into_iter().chain(versions).collect()
}

/// The values that rows have, each with the variants that have it ("async, jdbc: "); no names if that is all of them.
fn grouped<T: PartialEq>(rows: &[Row], value: impl Fn(&Row) -> T) -> Vec<(String, T)> {
    let mut groups: Vec<(Vec<&str>, T)> = Vec::new();
    for row in rows {
        let name = row.target.variant.as_deref().unwrap_or_default();
        let value = value(row);
        match groups.iter_mut().find(|(_, other)| *other == value) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], value)),
        }
    }
    let is_one = groups.len() == 1;
    let name = |names: Vec<&str>| {
        if is_one {
            String::new()
        } else {
            format!("{}: ", names.join(", "))
        }
    };
    let groups = groups.into_iter();
    groups.map(|(names, value)| (name(names), value)).collect()
}

fn total(rows: &[Row]) -> String {
    let unavailable = |row: &&Row| matches!(row.state, Availability::Unavailable(_));
    let missing = rows.iter().filter(unavailable).count();
    let built = rows
        .iter()
        .filter(|row| row.state == Availability::Built)
        .count();
    format!(
        "{built} built, {} ready to be built, {missing} unavailable",
        rows.len() - built - missing
    )
}

#[cfg(test)]
mod tests {
    use deadheat_document::text::Screen;
    use deadheat_model::{session::FoundVersion, stack::StackManifest};

    use super::*;

    const JETTY: &str = r#"
id = "clojure-jetty"
language = "Clojure"
framework = "Jetty"
class = "micro"
runtime = "jit"
database = { io = "async", layer = "raw", driver = "vertx-pg-client", pool = 16 }
run = { command = ["java"] }
[[variant]]
id = "async"
description = "asynchronous"
[[variant]]
id = "jdbc-unpooled"
description = "a connection per request"
database = { io = "blocking", layer = "raw", driver = "JDBC", pool = "none" }
"#;
    const AXUM: &str = r#"
id = "rust-axum"
language = "Rust"
framework = "axum"
class = "micro"
runtime = "native"
database = { io = "async", layer = "raw", driver = "tokio-postgres", pool = 16 }
run = { command = ["server"] }
"#;

    fn rows(manifest: &str, versions: &[(&str, &str)], states: &[Availability]) -> Vec<Row> {
        let manifest: StackManifest = toml::from_str(manifest).unwrap();
        let versions = versions.iter().map(|(name, version)| FoundVersion {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
        });
        let versions: Vec<FoundVersion> = versions.collect();
        let targets = manifest.targets().into_iter().zip(states);
        targets
            .map(|(target, state)| Row {
                folder: std::path::PathBuf::new(),
                manifest: manifest.clone(),
                target,
                versions: versions.clone(),
                state: state.clone(),
            })
            .collect()
    }

    fn unavailable(reason: &str, remedy: &str) -> Availability {
        Availability::Unavailable(Unavailable {
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        })
    }

    fn some() -> Vec<Row> {
        let java = unavailable(
            "java 17.0.12 (/usr/lib/jvm/java-17-openjdk-amd64/bin/java) is too old; 21 or later is needed",
            "apt-get install --yes --no-install-recommends openjdk-21-jdk-headless maven",
        );
        let cpus = unavailable(
            "made for 2 CPUs; pinned apart, this machine has 1 for the server",
            "--pinning off, or a machine with more CPUs",
        );
        let jetty = [
            ("java", "21.0.4"),
            ("mvn", "3.8.7"),
            ("org.clojure:clojure", "1.12.0"),
            ("org.eclipse.jetty:jetty-server", "12.0.16"),
        ];
        let mut some = rows(JETTY, &jetty, &[Availability::Built, cpus]);
        // A variant with a program of its own.
        some[0].versions.push(FoundVersion {
            name: "nginx".to_owned(),
            version: "1.22.1".to_owned(),
        });
        [
            some,
            rows(
                &JETTY.replace("clojure-jetty", "java-jetty"),
                &[],
                &[java.clone(), java],
            ),
            rows(
                AXUM,
                &[("cargo", "1.90.0"), ("axum", "0.8.4")],
                &[Availability::Ready],
            ),
        ]
        .concat()
    }

    #[test]
    fn the_list_at_80_columns() {
        let text = document(&some()).text(Screen::new(80, false));
        let longest = text.lines().filter(|line| !line.contains("to change that"));
        assert!(longest.map(|line| line.chars().count()).max() <= Some(80));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_stack_is_a_list_too() {
        let text = document(&[]).text(Screen::new(80, false));
        assert_eq!(text, "0 built, 0 ready to be built, 0 unavailable\n");
    }
}
