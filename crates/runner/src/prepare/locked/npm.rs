//! `package-lock.json`, of npm.

/// `packages."node_modules/x".version`, of lockfileVersion 2 and 3.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let lock: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(packages) = lock.get("packages") else {
        return Err("it has no `packages`; npm 7 or later writes them".to_owned());
    };
    let entry = packages.get(format!("node_modules/{package}"));
    let version = entry.and_then(|entry| entry.get("version")?.as_str());
    Ok(version.map(str::to_owned))
}
