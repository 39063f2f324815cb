//! Checks of a `workloads/<id>.toml` beyond its types.

use deadheat_load::{
    LoadError,
    limits::{MAX_CONNECTIONS, MAX_STREAMS, STREAMS},
};
use deadheat_model::{
    LoadPoint,
    figure::counted,
    workload::{Oracle, WorkloadManifest, WorldTask},
};

use super::{
    decode::{Checks, unknown_key_error},
    error::enumerate,
    tree::{Path, PathSegment},
};

/// The largest weight of a part: the cycle of requests is as long as all weights together, times some hundred.
const MAX_WEIGHT: u32 = 100;

/// The placeholder for a load point's rounds in the path.
pub(super) const ROUNDS: &str = "{rounds}";

/// Notes the mistakes of `manifest`, whose file is called `<stem>.toml`.
pub(super) fn check(checks: &mut Checks<'_, '_>, manifest: &WorkloadManifest, stem: &str) {
    checks.id(&["id"], &manifest.id);
    if manifest.id != stem {
        let title = format!("the id `{}` is not the file's name", manifest.id);
        checks.refuse(&["id"], title, format!("the file is called `{stem}.toml`"));
    }
    checks.text(&["description"], &manifest.description);
    if let Some(pack) = &manifest.pack {
        checks.id(&["pack"], pack);
    }
    checks.text(&["content-type"], &manifest.content_type);
    let method = &manifest.method;
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        let label = "write a method in capitals, such as \"GET\"";
        checks.refuse(
            &["method"],
            format!("`{method}` is not a valid method"),
            label,
        );
    }
    if manifest.content_sample == 0 {
        let label = "one answer in so many: 1 compares every one";
        checks.refuse(&["content-sample"], "no answer is compared", label);
    }
    check_path(checks, &["path"], &manifest.path);
    check_points(checks, manifest);
    check_oracle(checks, manifest);
}

/// Notes the mistakes of a path, which is at `place`.
pub(super) fn check_path(checks: &mut Checks<'_, '_>, place: &[&str], path: &str) {
    let line_safe = |c: char| c.is_ascii_graphic();
    if !path.starts_with('/') || !path.chars().all(line_safe) {
        let label = "a path begins with `/` and has only ASCII characters and no spaces";
        checks.refuse(place, "this is not a valid path", label);
    }
    if path.replace(ROUNDS, "").contains(['{', '}']) {
        let label = format!("only {ROUNDS} is replaced");
        checks.refuse(place, "unknown braces in the path", label);
    }
}

fn check_points(checks: &mut Checks<'_, '_>, manifest: &WorkloadManifest) {
    if manifest.point.is_empty() {
        let error = checks
            .error(&["point"], "the workload has no load point")
            .help("add a table [[point]] with `id` and `connections`");
        checks.errors.push(error);
    }
    let ids = manifest.point.iter().map(|point| point.id.as_str());
    checks.unique("point", Some("id"), ids);
    let wants_rounds = manifest.path.contains(ROUNDS);
    for (index, point) in manifest.point.iter().enumerate() {
        let index = index.to_string();
        let at = |key| ["point", index.as_str(), key];
        checks.id(&at("id"), &point.id);
        if point.connections == 0 {
            checks.refuse(&at("connections"), "no connections", "at least 1");
        }
        if point.connections > MAX_CONNECTIONS {
            let problem = LoadError::TooManyConnections {
                connections: point.connections,
                most: MAX_CONNECTIONS,
            };
            checks.refuse(&at("connections"), problem.to_string(), "this is too many");
        }
        check_protocol(checks, &index, point);
        if point.revalidate && manifest.oracle != Oracle::StaticFile {
            let label = "only the oracle `static-file` has an answer to it";
            checks.refuse(&at("revalidate"), "nothing to revalidate", label);
        }
        match point.rounds {
            Some(0) => checks.refuse(&at("rounds"), "no rounds", "at least 1"),
            Some(_) if !wants_rounds => {
                let title = format!("`rounds` without {ROUNDS} in `path`");
                checks.refuse(&at("rounds"), title, "this would have no effect");
            }
            None if wants_rounds => {
                let title = format!("`path` has {ROUNDS}, but a point has no `rounds`");
                let point = ["point", index.as_str()];
                checks.refuse(&point, title, "`rounds` is missing here");
            }
            _ => {}
        }
        check_queries(checks, &index, manifest, point);
    }
}

fn check_queries(
    checks: &mut Checks<'_, '_>,
    index: &str,
    manifest: &WorkloadManifest,
    point: &LoadPoint,
) {
    let wants_queries = match manifest.oracle {
        Oracle::Worlds { task } => task != WorldTask::One,
        _ => false,
    };
    let place = ["point", index, "queries"];
    match point.queries {
        Some(0 | 501..) => {
            let title = "the number of rows that a request asks for";
            checks.refuse(&place, title, "1 to 500");
        }
        Some(_) if !wants_queries => {
            let label = "only the oracle `worlds` has it, unless its task is `one`";
            checks.refuse(&place, "no number of rows is asked for", label);
        }
        None if wants_queries => {
            let title = "a point has no `queries`";
            checks.refuse(&place[..2], title, "`queries` is missing here");
        }
        _ => {}
    }
}

fn check_protocol(checks: &mut Checks<'_, '_>, index: &str, point: &LoadPoint) {
    let at = |key| ["point", index, key];
    if !(1..=MAX_STREAMS).contains(&point.streams) {
        checks.refuse(&at("streams"), counted(point.streams, "stream"), STREAMS);
    }
    if point.streams > 1 && !point.protocol.is_http2() {
        let title = format!("{} has no streams", point.protocol);
        checks.refuse(
            &at("streams"),
            title,
            "add `protocol = \"h2c\"` or `\"h2\"`",
        );
    }
    if !point.protocol.is_usual() && !point.sending.is_usual() {
        let title = "`sending` is for HTTP/1 without TLS";
        checks.refuse(&at("sending"), title, "remove this or `protocol`");
    }
}

fn check_oracle(checks: &mut Checks<'_, '_>, manifest: &WorkloadManifest) {
    match &manifest.oracle {
        Oracle::Repeated { byte, count } => {
            if !byte.is_ascii() {
                let label = "one byte is a character of ASCII";
                checks.refuse(
                    &["oracle", "byte"],
                    format!("`{byte}` is not one byte"),
                    label,
                );
            }
            if *count == 0 {
                checks.refuse(
                    &["oracle", "count"],
                    "an answer of no bytes",
                    "`count` is at least 1",
                );
            }
        }
        Oracle::DigestChain if !manifest.path.contains(ROUNDS) => {
            let title = format!("a digest chain needs {ROUNDS} in `path`");
            checks.refuse(&["path"], title, "how many rounds?");
        }
        _ => {}
    }
    let has_keys = matches!(
        manifest.oracle,
        Oracle::Text { .. }
            | Oracle::Json { .. }
            | Oracle::Repeated { .. }
            | Oracle::Worlds { .. }
            | Oracle::Mixed { .. }
    );
    if !has_keys {
        check_oracle_keys(checks);
    }
}

/// Notes the mistakes of a mixed workload's parts, which must be `simple` ones.
pub(super) fn check_parts(
    checks: &mut Checks<'_, '_>,
    manifest: &WorkloadManifest,
    simple: &[WorkloadManifest],
) {
    let Oracle::Mixed { part: parts } = &manifest.oracle else {
        return;
    };
    if parts.len() < 2 {
        let title = "a mixed workload needs at least two parts";
        let label = "add tables [[oracle.part]] with `workload` and `weight`";
        checks.refuse(&["oracle", "part"], title, label);
    }
    let ids = parts.iter().map(|part| part.workload.as_str());
    checks.unique("oracle.part", Some("workload"), ids);
    for (index, part) in parts.iter().enumerate() {
        let index = index.to_string();
        let at = |key| ["oracle", "part", index.as_str(), key];
        if !simple.iter().any(|one| one.id == part.workload) {
            let title = format!("`{}` is not a workload that can be a part", part.workload);
            let names = simple.iter().map(|one| one.id.as_str());
            checks.refuse(
                &at("workload"),
                title,
                format!("there are {}", enumerate(names)),
            );
        }
        if !(1..=MAX_WEIGHT).contains(&part.weight) {
            let title = format!("the weight {}", part.weight);
            checks.refuse(&at("weight"), title, format!("1 to {MAX_WEIGHT}"));
        }
    }
}

/// The manifest with those of its parts.
pub(super) fn with_parts(
    mut manifest: WorkloadManifest,
    simple: &[WorkloadManifest],
) -> WorkloadManifest {
    if let Oracle::Mixed { part } = &mut manifest.oracle {
        for part in part {
            let found = simple.iter().find(|one| one.id == part.workload);
            part.manifest = found.cloned().map(Box::new);
        }
    }
    manifest
}

/// Reports keys other than `kind` of an oracle that has no other keys, because serde ignores them.
fn check_oracle_keys(checks: &mut Checks<'_, '_>) {
    let table = Path(vec![PathSegment::Key("oracle".to_owned())]);
    for (key, span) in checks.tree.keys(&table) {
        if let Some(path) = checks.tree.key_at(&span).filter(|_| key != "kind") {
            let known = ["kind".to_owned()];
            let error = unknown_key_error(checks.source, checks.tree, &path, &known);
            checks.errors.push(error);
        }
    }
}
