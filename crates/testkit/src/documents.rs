//! The commands that documents show.

/// The commands of a document that begin with `deadheat`: [`commands_of`].
pub fn commands(text: &str) -> Vec<String> {
    commands_of(text, "deadheat")
}

/// The commands of a document that begin with `program`: lines of its code blocks, after a prompt or without one. A
/// line that ends in `\` continues in the next one.
pub fn commands_of(text: &str, program: &str) -> Vec<String> {
    let prefix = format!("{program} ");
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
        if !in_code || !line.starts_with(&prefix) || line.starts_with("deadheat 0.") {
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

/// The commands within sentences: code that begins with `program` and a blank, also across the end of a line.
pub fn inline_commands_of(text: &str, program: &str) -> Vec<String> {
    let prefix = format!("{program} ");
    let mut in_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join(" ");
    let code = prose.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with(&prefix))
        .map(str::to_owned)
        .collect()
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
    assert_eq!(commands_of(text, "output x"), Vec::<String>::new());
    let text = "Use `deadheat run\n--quick`, or `cargo xtask test`.\n```\n`deadheat load`\n```\n";
    assert_eq!(
        inline_commands_of(text, "deadheat"),
        ["deadheat run --quick"]
    );
    assert_eq!(inline_commands_of(text, "cargo"), ["cargo xtask test"]);
    assert_eq!(
        words("deadheat load 'a b' | less").unwrap(),
        ["deadheat", "load", "a b"]
    );
}
