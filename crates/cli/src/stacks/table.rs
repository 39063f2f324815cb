//! The list of stacks as a table: a line for each variant, and below them what is the same for all of a stack. Where
//! the terminal is narrow, language and framework go below too.

use deadheat_model::{session::FoundVersion, stack::DatabaseAccess};
use deadheat_runner::prepare::Unavailable;

use super::list::{Row, State};

const HEADS: [&str; 7] = [
    "STACK",
    "VARIANT",
    "LANGUAGE",
    "FRAMEWORK",
    "DATABASE",
    "POOL",
    "STATE",
];
/// Language and framework.
const ALSO_BELOW: [usize; 2] = [2, 3];
/// The only column of numbers.
const POOL: usize = 5;
const GAP: usize = 2;
const INDENT: &str = "    ";

/// The table in `width` columns. Only a remedy may be longer, because it is a command, to be copied.
pub(super) fn as_text(rows: &[Row], width: usize) -> String {
    let cells: Vec<[String; 7]> = rows.iter().map(cells).collect();
    let all: Vec<usize> = (0..HEADS.len()).collect();
    let fewer = || all.iter().copied().filter(|at| !ALSO_BELOW.contains(at));
    let lengths = lengths(&cells);
    let needed = |columns: &[usize]| -> usize {
        let text: usize = columns.iter().map(|at| lengths[*at]).sum();
        text + GAP * (columns.len() - 1)
    };
    let wide = needed(&all) <= width;
    let columns = if wide { all.clone() } else { fewer().collect() };
    let mut text = line(&HEADS.map(str::to_owned), &columns, &lengths);
    let mut rest = rows.iter().zip(cells).peekable();
    while let Some((row, first)) = rest.next() {
        text += &line(&first, &columns, &lengths);
        let mut stack = vec![row];
        while let Some((row, mut cells)) =
            rest.next_if(|(next, _)| next.target.stack == row.target.stack)
        {
            for at in [0].into_iter().chain(ALSO_BELOW) {
                cells[at].clear();
            }
            text += &line(&cells, &columns, &lengths);
            stack.push(row);
        }
        text += &below(&stack, wide, width);
    }
    text + &total(rows)
}

fn cells(row: &Row) -> [String; 7] {
    let database = row.database();
    let access = match database.access {
        DatabaseAccess::Async => "async",
        DatabaseAccess::Blocking => "blocking",
        DatabaseAccess::Orm => "orm",
    };
    let state = match row.state {
        State::Built => "built",
        State::Ready => "ready",
        State::Unavailable(_) => "unavailable",
    };
    [
        row.target.stack.clone(),
        row.target.variant.clone().unwrap_or_default(),
        row.manifest.language.clone(),
        row.manifest.framework.clone(),
        format!("{access}, {}", database.driver),
        database.pool.to_string(),
        state.to_owned(),
    ]
}

fn lengths(cells: &[[String; 7]]) -> [usize; 7] {
    std::array::from_fn(|at| {
        let longest = cells.iter().map(|row| row[at].chars().count()).max();
        longest.unwrap_or(0).max(HEADS[at].len())
    })
}

fn line(cells: &[String; 7], columns: &[usize], lengths: &[usize; 7]) -> String {
    let gap = " ".repeat(GAP);
    let padded: Vec<String> = columns
        .iter()
        .map(|at| match *at {
            POOL => format!("{:>1$}", cells[POOL], lengths[POOL]),
            at => format!("{:<1$}", cells[at], lengths[at]),
        })
        .collect();
    padded.join(&gap).trim_end().to_owned() + "\n"
}

/// What stands below a stack's variants.
fn below(rows: &[&Row], wide: bool, width: usize) -> String {
    let mut text = String::new();
    let manifest = &rows[0].manifest;
    let what = format!("{} {}", manifest.language, manifest.framework);
    let everywhere = |found: &FoundVersion| rows.iter().all(|row| row.versions.contains(found));
    let (common, _) = split(rows[0], everywhere);
    let head = match (wide, common.is_empty()) {
        (true, _) => common,
        (false, true) => what,
        (false, false) => format!("{what}: {common}"),
    };
    if !head.is_empty() {
        text += &wrapped(&head, width);
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
fn grouped<T: PartialEq>(rows: &[&Row], value: impl Fn(&Row) -> T) -> Vec<(Option<String>, T)> {
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
    let mut text = String::new();
    let mut current = INDENT.to_owned();
    let mut begun = false;
    for word in words.split_whitespace() {
        if begun && current.chars().count() + 1 + word.chars().count() > width {
            text += &current;
            text += "\n";
            current = INDENT.repeat(2);
            begun = false;
        }
        if begun {
            current += " ";
        }
        current += word;
        begun = true;
    }
    text + &current + "\n"
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
id = "clojure-ring-jetty"
language = "Clojure"
framework = "Ring on Jetty"
runtime = "jit"
database = { access = "async", driver = "vertx-pg-client", pool = 16 }
run = { command = ["java"] }
[[variant]]
id = "async"
description = "asynchronous"
[[variant]]
id = "jdbc-unpooled"
description = "a connection per request"
database = { access = "blocking", driver = "JDBC", pool = "none" }
"#;
    const AXUM: &str = r#"
id = "rust-axum"
language = "Rust"
framework = "axum"
runtime = "native"
database = { access = "async", driver = "tokio-postgres", pool = 16 }
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
            "made for 2 CPUs; pinned apart, this machine gives the server 1",
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
                &JETTY.replace("clojure-ring", "java"),
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
    fn the_table_at_140_columns() {
        insta::assert_snapshot!(as_text(&some(), 140));
    }

    #[test]
    fn no_stack_is_a_table_too() {
        insta::assert_snapshot!(as_text(&[], 80));
    }
}
