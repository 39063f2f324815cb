//! `Cargo.lock`, of Cargo.

use super::super::version::compare;

/// The highest version of the package: several may stand side by side.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let lock: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let versions = packages.into_iter().flatten().filter_map(|entry| {
        let name = entry.get("name")?.as_str()?;
        let version = entry.get("version")?.as_str()?;
        (name == package).then_some(version)
    });
    Ok(versions.max_by(|a, b| compare(a, b)).map(str::to_owned))
}
