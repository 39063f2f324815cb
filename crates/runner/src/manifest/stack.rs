//! Checks of a `stack.toml` that its types cannot express.

use std::path::Path;

use deadheat_model::{
    Protocols, WorkloadManifest,
    figure::list,
    stack::{Database, Http, StackManifest, Toolchain, Variant},
    workload::Oracle,
};

use super::{
    decode::Checks,
    error::{did_you_mean, enumerate},
    workload::{ROUNDS, check_path},
};
use crate::prepare::{
    is_package_name,
    locked::{self, LockedError},
};

/// Variables that Deadheat sets for every stack. A manifest must not set them, because its values would be ignored.
const CONTRACT: [&str; 12] = [
    "HOST",
    "PORT",
    "TLS_PORT",
    "TLS_CERT",
    "TLS_KEY",
    "H2C_PORT",
    "CPUS",
    "POOL_SIZE",
    "DATABASE_URL",
    "UPSTREAM_URL",
    "BLOB_PATH",
    "STATIC_DIR",
];

/// Notes the mistakes of `manifest` in the folder `dir`; `workloads` are the known workloads. (The catalogue checks
/// that the id is the folder's name, because the mistake may be in another stack's manifest.)
pub(super) fn check(
    checks: &mut Checks<'_, '_>,
    manifest: &StackManifest,
    known: &[String],
    workloads: &[WorkloadManifest],
    dir: &Path,
) {
    checks.id(&["id"], &manifest.id);
    checks.text(&["language"], &manifest.language);
    checks.text(&["framework"], &manifest.framework);
    check_database(checks, manifest, workloads);
    check_workloads(checks, manifest, known, workloads);
    check_routes(checks, manifest, known, workloads);
    check_http(checks, &["http"], manifest.http);
    check_protocols(checks, &["protocols"], manifest.protocols);
    for (index, toolchain) in manifest.toolchain.iter().enumerate() {
        check_toolchain(checks, &["toolchain", &index.to_string()], toolchain);
    }
    check_runtime_from(checks, manifest);
    check_locked(checks, manifest, dir);
    check_build(checks, manifest);
    checks.command(&["run", "command"], &manifest.run.command);
    check_env(checks, &["run", "env"], manifest.run.env.keys());
    for (workload, env) in &manifest.run.workload_env {
        let path = ["run", "workload-env", workload];
        check_workload(checks, &path, workload, known);
        check_is_simple(checks, &path, workload, workloads);
        check_env(checks, &path, env.keys());
    }
    let ids = manifest.variant.iter().map(|variant| variant.id.as_str());
    checks.unique("variant", Some("id"), ids);
    for (index, variant) in manifest.variant.iter().enumerate() {
        check_variant(checks, &index.to_string(), variant, workloads);
    }
}

fn check_database(
    checks: &mut Checks<'_, '_>,
    manifest: &StackManifest,
    workloads: &[WorkloadManifest],
) {
    if let Some(database) = &manifest.database {
        return check_database_keys(checks, &["database"], database, workloads);
    }
    let mut asked = workloads
        .iter()
        .filter(|one| one.oracle.needs_database() && manifest.answers(one));
    if let Some(one) = asked.next().filter(|_| checks.whole) {
        let label = format!(
            "a stack that answers `{}` must define how it reaches PostgreSQL",
            one.id
        );
        checks.refuse(&[], "the key `database` is missing", label);
    }
}

/// Notes the mistakes of a `[database]` section, a stack's or a variant's, which is at `path`.
fn check_database_keys(
    checks: &mut Checks<'_, '_>,
    path: &[&str],
    database: &Database,
    workloads: &[WorkloadManifest],
) {
    checks.text(&[path, &["driver"]].concat(), &database.driver);
    let asked = workloads.iter().filter(|one| one.oracle.needs_database());
    let asked: Vec<String> = asked.map(|one| one.id.clone()).collect();
    for (index, workload) in database.unprepared.iter().enumerate() {
        let index = index.to_string();
        let at = [path, &["unprepared", index.as_str()]].concat();
        check_workload(checks, &at, workload, &asked);
        check_is_simple(checks, &at, workload, workloads);
    }
}

fn check_workloads(
    checks: &mut Checks<'_, '_>,
    manifest: &StackManifest,
    known: &[String],
    workloads: &[WorkloadManifest],
) {
    let Some(list) = &manifest.workloads else {
        return;
    };
    if list.is_empty() {
        let label = "omit it for all workloads, or name some";
        checks.refuse(&["workloads"], "the stack answers no workload", label);
    }
    checks.unique("workloads", None, list.iter().map(String::as_str));
    for (index, name) in list.iter().enumerate() {
        let index = index.to_string();
        let path = ["workloads", index.as_str()];
        check_workload(checks, &path, name, known);
        check_is_simple(checks, &path, name, workloads);
    }
}

fn check_routes(
    checks: &mut Checks<'_, '_>,
    manifest: &StackManifest,
    known: &[String],
    workloads: &[WorkloadManifest],
) {
    for (name, route) in &manifest.routes {
        let place = ["routes", name];
        check_workload(checks, &place, name, known);
        check_is_simple(checks, &place, name, workloads);
        check_path(checks, &place, route);
        let Some(workload) = workloads.iter().find(|one| one.id == *name) else {
            continue;
        };
        if workload.oracle == Oracle::Crud {
            let title = format!("`{name}` has several paths");
            checks.refuse(&place, title, "these are the workload's own");
        }
        if workload.path.contains(ROUNDS) != route.contains(ROUNDS) {
            let label = format!("the workload's own is `{}`", workload.path);
            checks.refuse(&place, format!("{ROUNDS} in one path alone"), label);
        }
    }
}

/// Notes a workload of several parts: what a stack says of those holds for it, and nothing else does.
fn check_is_simple(
    checks: &mut Checks<'_, '_>,
    path: &[&str],
    name: &str,
    workloads: &[WorkloadManifest],
) {
    let mut mixed = workloads.iter().filter(|one| one.oracle.is_mixed());
    if let Some(one) = mixed.find(|one| one.id == name) {
        let parts: Vec<&str> = one.parts().iter().map(|part| part.id.as_str()).collect();
        let title = format!("`{name}` asks for several workloads at once");
        let label = format!("name those: {}", list(&parts));
        checks.refuse(path, title, label);
    }
}

fn check_workload(checks: &mut Checks<'_, '_>, path: &[&str], name: &str, known: &[String]) {
    if known.iter().any(|one| one == name) {
        return;
    }
    let names = known.iter().map(String::as_str);
    let error = checks
        .error(path, format!("the workload `{name}` does not exist"))
        .label(did_you_mean(name, names.clone()).unwrap_or_default())
        .help(format!("there are {}", enumerate(names)));
    checks.errors.push(error);
}

/// `path` leads to the toolchain: a stack's or a variant's.
fn check_toolchain(checks: &mut Checks<'_, '_>, path: &[&str], toolchain: &Toolchain) {
    let at = |key| [path, &[key]].concat();
    checks.text(&at("program"), &toolchain.program);
    checks.command(&at("version"), &toolchain.version);
    checks.text(&at("hint"), &toolchain.hint);
    check_packages(checks, &at("apt"), &toolchain.apt);
    for (key, version) in [
        ("minimum", &toolchain.minimum),
        ("maximum", &toolchain.maximum),
    ] {
        if let Some(version) = version {
            check_version(checks, &at(key), version);
        }
    }
}

fn check_version(checks: &mut Checks<'_, '_>, path: &[&str], version: &str) {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !version.split('.').all(is_number) {
        let label = "write numbers with dots, such as \"1.25\"";
        checks.refuse(path, format!("`{version}` is not a version"), label);
    }
}

fn check_runtime_from(checks: &mut Checks<'_, '_>, manifest: &StackManifest) {
    for (index, from) in manifest.runtime_from.iter().enumerate() {
        let at = |key| ["runtime-from", &index.to_string(), key].map(str::to_owned);
        let programs = || manifest.toolchain.iter().map(|one| one.program.as_str());
        if !programs().any(|program| program == from.program) {
            let path = at("program");
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let title = format!("no toolchain has the program `{}`", from.program);
            let label = did_you_mean(&from.program, programs()).unwrap_or_default();
            checks.refuse(&path, title, label);
        }
        let path = at("version");
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        check_version(checks, &path, &from.version);
    }
}

/// `path` leads to the section: a stack's or a variant's.
fn check_http(checks: &mut Checks<'_, '_>, path: &[&str], http: Http) {
    if http.pipelining && !http.keep_alive {
        let path = [path, &["pipelining"]].concat();
        let title = "a connection that is closed after every answer has no second request";
        checks.refuse(&path, title, "remove this or `keep-alive = false`");
    }
}

/// `path` leads to the section: a stack's or a variant's.
fn check_protocols(checks: &mut Checks<'_, '_>, path: &[&str], protocols: Protocols) {
    // A misspelt key may have been taken for another one.
    if checks.whole && protocols.h2 && !protocols.tls {
        let path = [path, &["h2"]].concat();
        let title = "HTTP/2 over TLS without HTTP/1.1 over TLS";
        let label = "add `tls = true`: a client that offers HTTP/1.1 alone is answered in it, on the same port";
        checks.refuse(&path, title, label);
    }
}

/// Notes the packages whose versions are not found in the lock files, which are in the stack's folder `dir`.
fn check_locked(checks: &mut Checks<'_, '_>, manifest: &StackManifest, dir: &Path) {
    // A misspelt `pattern` may have been taken out.
    if !checks.whole {
        return;
    }
    for (index, locked) in manifest.locked.iter().enumerate() {
        let Err(error) = locked::find_version(dir, locked) else {
            continue;
        };
        let near = did_you_mean(&locked.file, locked::known_files());
        let (key, label) = match error {
            LockedError::UnknownFile(_) => ("file", near.as_deref().unwrap_or_default()),
            LockedError::Read { .. } => ("file", "name a text file in the stack's folder"),
            LockedError::Pattern(_) => (
                "pattern",
                r"write one group, around the version: '^version (\S+)'; other parentheses are `(?: )`",
            ),
            LockedError::NoGroup { .. } => ("package", "write `group:artifact`"),
            LockedError::Missing { .. }
            | LockedError::NotAVersion { .. }
            | LockedError::Several { .. } => (
                locked.pattern.as_ref().map_or("package", |_| "pattern"),
                "write the name that the file has, or a `pattern` that finds one version",
            ),
        };
        let path = ["locked", &index.to_string(), key];
        let mut mistake = checks.error(&path, error.to_string()).label(label);
        if let LockedError::UnknownFile(_) = error {
            let known = enumerate(locked::known_files());
            mistake = mistake.help(format!(
                "add a `pattern` that finds the version in it; lock files that need none: {known}"
            ));
        }
        checks.errors.push(mistake);
    }
}

fn check_build(checks: &mut Checks<'_, '_>, manifest: &StackManifest) {
    let build = &manifest.build;
    check_packages(checks, &["build", "apt"], &build.apt);
    for (key, commands) in [("fetch", &build.fetch), ("steps", &build.steps)] {
        for (index, command) in commands.iter().enumerate() {
            checks.command(&["build", key, &index.to_string()], command);
        }
    }
    for (index, artefact) in build.artefacts.iter().enumerate() {
        use std::path::Component;
        let inside = std::path::Path::new(artefact)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside || artefact.is_empty() {
            let path = ["build", "artefacts", &index.to_string()];
            let title = format!("the artefact `{artefact}` is not in the stack's folder");
            checks.refuse(&path, title, "name a file or a folder in it");
        }
    }
}

/// Names of Debian packages.
fn check_packages(checks: &mut Checks<'_, '_>, path: &[&str], packages: &[String]) {
    for (index, package) in packages.iter().enumerate() {
        if !is_package_name(package) {
            let index = index.to_string();
            let path = [path, &[index.as_str()]].concat();
            let label = "a name has lower-case letters, digits, `+`, `-` and `.`, begins with a letter or a \
                         digit, and does not end in `-`";
            checks.refuse(
                &path,
                format!("`{package}` is not a valid name of a Debian package"),
                label,
            );
        }
    }
}

fn check_variant(
    checks: &mut Checks<'_, '_>,
    index: &str,
    variant: &Variant,
    workloads: &[WorkloadManifest],
) {
    let at = |key| ["variant", index, key];
    checks.id(&at("id"), &variant.id);
    checks.text(&at("description"), &variant.description);
    if variant.cpus == Some(0) {
        checks.refuse(&at("cpus"), "a variant for 0 CPUs", "at least 1");
    }
    if let Some(command) = &variant.command {
        checks.command(&at("command"), command);
    }
    if let Some(http) = variant.http {
        check_http(checks, &at("http"), http);
    }
    if let Some(protocols) = variant.protocols {
        check_protocols(checks, &at("protocols"), protocols);
    }
    if let Some(database) = &variant.database {
        check_database_keys(checks, &at("database"), database, workloads);
    }
    for (place, toolchain) in variant.toolchain.iter().enumerate() {
        let path = ["variant", index, "toolchain", &place.to_string()];
        check_toolchain(checks, &path, toolchain);
    }
    check_env(checks, &at("env"), variant.env.keys());
}

fn check_env<'a>(
    checks: &mut Checks<'_, '_>,
    path: &[&str],
    names: impl Iterator<Item = &'a String>,
) {
    for name in names {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        if CONTRACT.contains(&name.as_str()) {
            let title = format!("`{name}` is set by deadheat");
            checks.refuse(&path, title, "omit it; the stack gets it in any case");
        } else if name.is_empty() || name.contains(['=', '\0']) {
            let label = "a name has at least a character, and no `=`";
            checks.refuse(&path, "this is not a valid name for a variable", label);
        }
    }
}
