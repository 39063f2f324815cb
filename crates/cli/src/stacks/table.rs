//! The list of stacks as a table: a line for each variant, and below them what is the same for all of a stack. Where
//! the terminal is narrow, more of it goes below.

use deadheat_model::{
    session::FoundVersion,
    stack::{self, DatabaseIo, DatabaseLayer},
};
use deadheat_runner::prepare::Unavailable;

use self::Column::{Database, Driver, Framework, Language, Pool, Stack, Variant};
use super::row::{Row, State};
use crate::wrap;

/// What a line has of a variant, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Stack,
    Variant,
    Language,
    Framework,
    Database,
    Driver,
    Pool,
    State,
}

const ALL: [Column; 8] = [
    Stack,
    Variant,
    Language,
    Framework,
    Database,
    Driver,
    Pool,
    Column::State,
];
/// What goes below where the terminal is narrow: the first two, then all.
const BELOW: [Column; 3] = [Language, Framework, Driver];
/// What is the same for all variants of a stack, and stands in the first line alone.
const SAME: [Column; 3] = [Stack, Language, Framework];
const GAP: usize = 2;
const INDENT: &str = "    ";

/// The table in `width` columns. Only a remedy may be longer, because it is a command, to be copied.
pub(super) fn as_text(rows: &[Row], width: usize) -> String {
    let columns = columns(rows, width);
    let lengths: Vec<usize> = columns.iter().map(|one| one.length(rows)).collect();
    let heads = columns.iter().map(|one| one.head());
    let mut text = line(heads, &columns, &lengths);
    for rows in rows.chunk_by(|one, next| one.target.stack == next.target.stack) {
        for (index, row) in rows.iter().enumerate() {
            let cells = columns.iter().map(|one| {
                if index > 0 && SAME.contains(one) {
                    String::new()
                } else {
                    one.cell(row)
                }
            });
            text += &line(cells, &columns, &lengths);
        }
        text += &below(rows, &columns, width);
    }
    text + &total(rows)
}

/// As many columns as there is room for.
fn columns(rows: &[Row], width: usize) -> Vec<Column> {
    let mut columns = ALL.to_vec();
    for out in [&BELOW[..0], &BELOW[..2], &BELOW] {
        columns.retain(|one| !out.contains(one));
        let text: usize = columns.iter().map(|one| one.length(rows)).sum();
        if text + GAP * (columns.len() - 1) <= width {
            break;
        }
    }
    columns
}

impl Column {
    fn head(self) -> String {
        format!("{self:?}").to_uppercase()
    }

    fn cell(self, row: &Row) -> String {
        let database = row.database();
        match self {
            Stack => row.target.stack.clone(),
            Variant => row.target.variant.clone().unwrap_or_default(),
            Language => row.manifest.language.clone(),
            Framework => row.manifest.framework.clone(),
            Database => database.map_or(String::new(), kind),
            Driver => database.map_or(String::new(), |database| database.driver.clone()),
            Pool => database.map_or(String::new(), |database| database.pool.to_string()),
            Column::State => match row.state {
                State::Built => "built".to_owned(),
                State::Ready => "ready".to_owned(),
                State::Unavailable(_) => "unavailable".to_owned(),
            },
        }
    }

    fn length(self, rows: &[Row]) -> usize {
        let cells = rows.iter().map(|row| self.cell(row));
        let texts = cells.chain([self.head()]);
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    }
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

fn line(cells: impl Iterator<Item = String>, columns: &[Column], lengths: &[usize]) -> String {
    let cells = cells.zip(columns.iter().zip(lengths));
    let padded: Vec<String> = cells
        .map(|(cell, (column, length))| match column {
            // The only numbers.
            Pool => format!("{cell:>length$}"),
            _ => format!("{cell:<length$}"),
        })
        .collect();
    padded.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
}

/// What stands below a stack's variants.
fn below(rows: &[Row], columns: &[Column], width: usize) -> String {
    let mut text = String::new();
    let manifest = &rows[0].manifest;
    let what = format!("{} {}", manifest.language, manifest.framework);
    let everywhere = |found: &FoundVersion| rows.iter().all(|row| row.versions.contains(found));
    let (common, _) = split(&rows[0], everywhere);
    let head = match (columns.contains(&Language), common.is_empty()) {
        (true, _) => common,
        (false, true) => what,
        (false, false) => format!("{what}: {common}"),
    };
    if !head.is_empty() {
        text += &wrapped(&head, width);
    }
    if !columns.contains(&Driver) {
        let driver = |row: &Row| row.database().map(|database| database.driver.clone());
        for (names, driver) in grouped(rows, driver) {
            let Some(driver) = driver else { continue };
            let names = names.map_or(String::new(), |names| format!("{names}: "));
            text += &wrapped(&format!("{names}driver {driver}"), width);
        }
    }
    for (names, own) in grouped(rows, |row| split(row, everywhere).1) {
        if !own.is_empty() {
            let names = names.map_or(String::new(), |names| format!("{names}: "));
            text += &wrapped(&format!("{names}{own}"), width);
        }
    }
    let reasons = grouped(rows, |row| match &row.state {
        State::Unavailable(unavailable) => Some(unavailable.clone()),
        _ => None,
    });
    for (names, missing) in reasons {
        let Some(Unavailable { reason, remedy }) = missing else {
            continue;
        };
        let names = names.map_or(String::new(), |names| format!("{names}: "));
        text += &wrapped(&format!("{names}unavailable: {reason}"), width);
        text += &format!("{INDENT}to change that: {remedy}\n");
    }
    text
}

/// A row's versions: those of which `common` holds, then the others.
fn split(row: &Row, common: impl Fn(&FoundVersion) -> bool) -> (String, String) {
    let (common, own): (Vec<_>, Vec<_>) = row.versions.iter().partition(|found| common(found));
    let listed = |versions: Vec<&FoundVersion>| {
        let words = versions.iter();
        let words = words.map(|found| format!("{} {}", found.name, found.version));
        words.collect::<Vec<_>>().join(", ")
    };
    (listed(common), listed(own))
}

/// The values that rows have, each with the variants that have it; no names where that is all of them.
fn grouped<T: PartialEq>(rows: &[Row], value: impl Fn(&Row) -> T) -> Vec<(Option<String>, T)> {
    let mut groups: Vec<(Vec<&str>, T)> = Vec::new();
    for row in rows {
        let name = row.target.variant.as_deref().unwrap_or_default();
        let value = value(row);
        match groups.iter_mut().find(|(_, other)| *other == value) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], value)),
        }
    }
    let alone = groups.len() == 1;
    let named = groups.into_iter().map(|(names, value)| {
        let names = (!alone).then(|| names.join(", "));
        (names, value)
    });
    named.collect()
}

/// Words in lines of `width` columns, indented, the further lines more so.
fn wrapped(words: &str, width: usize) -> String {
    wrap::text(words, width, INDENT, &INDENT.repeat(2))
}

fn total(rows: &[Row]) -> String {
    let unavailable = |row: &&Row| matches!(row.state, State::Unavailable(_));
    let missing = rows.iter().filter(unavailable).count();
    let built = rows.iter().filter(|row| row.state == State::Built).count();
    format!(
        "{built} built, {} ready to be built, {missing} unavailable\n",
        rows.len() - built - missing
    )
}

#[cfg(test)]
mod tests {
    use deadheat_model::stack::StackManifest;

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

    fn rows(manifest: &str, versions: &[(&str, &str)], states: &[State]) -> Vec<Row> {
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

    fn unavailable(reason: &str, remedy: &str) -> State {
        State::Unavailable(Unavailable {
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
        let mut some = rows(JETTY, &jetty, &[State::Built, cpus]);
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
                &[State::Ready],
            ),
        ]
        .concat()
    }

    #[test]
    fn the_table_at_80_columns() {
        let text = as_text(&some(), 80);
        let longest = text.lines().filter(|line| !line.contains("to change that"));
        assert!(longest.map(|line| line.chars().count()).max() <= Some(80));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_table_at_70_columns() {
        insta::assert_snapshot!(as_text(&some(), 70));
    }

    #[test]
    fn the_table_at_140_columns() {
        insta::assert_snapshot!(as_text(&some(), 140));
    }

    #[test]
    fn no_stack_is_a_table_too() {
        insta::assert_snapshot!(as_text(&[], 80));
    }
}
