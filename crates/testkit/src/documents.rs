//! The commands that documents show.

/// The commands of a document: lines of its code blocks that begin with `deadheat`, after a prompt or without one. A line
/// that ends in `\` goes on in the next one.
pub fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        if !in_code || !line.starts_with("deadheat ") || line.starts_with("deadheat 0.") {
            continue;
        }
        let mut command = line.to_owned();
        while let Some(part) = command.strip_suffix('\\') {
            command = format!("{part} {}", lines.next().unwrap_or_default());
        }
        found.push(command);
    }
    found
}

/// The words of a command up to its comment, and up to what a shell would do with its output; `None` where its quotes
/// are not closed.
pub fn words(command: &str) -> Option<Vec<String>> {
    let mut words = shlex::split(command)?;
    let end = words
        .iter()
        .position(|word| ["|", ">", "&&", ";"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    Some(words)
}

#[test]
fn commands_are_found_in_code_alone_and_over_several_lines() {
    let text = "deadheat is not one\n```console\n$ deadheat run \\\n    --quick   # a first look\noutput\ndeadheat load x\n```\n";
    let found = commands(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(words(&found[0]).unwrap(), ["deadheat", "run", "--quick"]);
    assert_eq!(
        words("deadheat load 'a b' | less").unwrap(),
        ["deadheat", "load", "a b"]
    );
}
