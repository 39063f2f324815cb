//! `requirements.txt`, of pip.

/// `name==1.2.3`, with extras, markers and hashes.
pub(super) fn version(text: &str, package: &str) -> Option<String> {
    let wanted = normalise(package);
    text.lines().find_map(|line| {
        let line = line.split(['#', ';', '\\']).next()?;
        let (name, version) = line.split_once("==")?;
        let name = name.split('[').next()?.trim();
        let version = version.trim_start_matches('=').split_whitespace().next()?;
        (normalise(name) == wanted).then(|| version.to_owned())
    })
}

/// Names are equal when they differ in case and in runs of `-`, `_` and `.` only (PEP 503).
fn normalise(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}
