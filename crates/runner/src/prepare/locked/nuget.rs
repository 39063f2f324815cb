//! `packages.lock.json`, of NuGet.

use super::super::version::compare;

/// `dependencies.<framework>.<package>.resolved`; the highest one, where the frameworks differ. Names are equal when
/// they differ in case only. (Projects of the solution stand there too, without a version.)
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let lock: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(frameworks) = lock.get("dependencies").and_then(|all| all.as_object()) else {
        return Err(
            "it has no `dependencies`; `dotnet restore --use-lock-file` writes them".to_owned(),
        );
    };
    let packages = frameworks.values().filter_map(|all| all.as_object());
    let versions = packages
        .flatten()
        .filter(|(name, _)| name.eq_ignore_ascii_case(package))
        .filter_map(|(_, entry)| entry.get("resolved")?.as_str());
    Ok(versions.max_by(|a, b| compare(a, b)).map(str::to_owned))
}
