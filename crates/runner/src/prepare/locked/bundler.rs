//! `Gemfile.lock`, of Bundler.

/// `    name (1.2.3)` below `specs:`. What a gem needs stands two blanks further to the right, with ranges.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let mut has_specs = false;
    let mut in_specs = false;
    let mut found = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        match (indent, line.trim()) {
            (_, "") => in_specs = false,
            (2, "specs:") => (has_specs, in_specs) = (true, true),
            (0..=2, _) => in_specs = false,
            // Of a gem that is there for several platforms, the first one: Bundler keeps their versions equal.
            (4, spec) if in_specs && found.is_none() => found = version_of_spec(spec, package),
            _ => {}
        }
    }
    if has_specs {
        Ok(found)
    } else {
        Err("it has no `specs:`; `bundle lock` writes them".to_owned())
    }
}

/// "1.18.9" of "nokogiri (1.18.9-x86_64-linux-gnu)": a gem's version has no hyphen, its platform follows one.
fn version_of_spec(spec: &str, package: &str) -> Option<String> {
    let (name, rest) = spec.split_once(" (")?;
    let version = rest.strip_suffix(')')?.split('-').next()?;
    (name == package && !version.is_empty()).then(|| version.to_owned())
}
