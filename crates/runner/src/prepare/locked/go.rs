//! `go.mod`, of Go's modules.

/// `require x v1.2.3`, alone or in a block; a `replace x => y v1.2.4` overrules it (go.dev/ref/mod).
pub(super) fn version(text: &str, package: &str) -> Option<String> {
    let mut block = String::new();
    let mut required = None;
    let mut replaced = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [directive, "("] => block = (*directive).to_owned(),
            [")"] => block.clear(),
            [] => {}
            _ => {
                let directive = if block.is_empty() {
                    words.remove(0)
                } else {
                    block.as_str()
                };
                match (directive, words.as_slice()) {
                    ("require", [name, version]) if *name == package => {
                        required = Some(*version);
                    }
                    ("replace", [name, .., "=>", _, version]) if *name == package => {
                        replaced = Some(*version);
                    }
                    _ => {}
                }
            }
        }
    }
    let version = replaced.filter(|_| required.is_some()).or(required)?;
    Some(version.trim_start_matches('v').to_owned())
}
