//! The words of a command.

use deadheat_runner::secret::without_password;

/// What only a shell understands, as a word of its own.
const OF_A_SHELL: [&str; 8] = ["&&", "||", "|", ";", "&", ">", "<", ">>"];

/// The words of `command`, quoted as for a shell. There is no shell behind it: one would be a process more in every
/// figure.
pub(crate) fn words(command: &str) -> Result<Vec<String>, String> {
    let typed = command;
    let command = &shown(command);
    let shown = format!("cmd:{command}");
    let Some(words) = shlex::split(typed) else {
        return Err(format!(
            "{shown}: a quotation mark is not closed, or a backslash is the last"
        ));
    };
    let Some(program) = words.first() else {
        return Err(format!(
            "{shown} names no command; write it like 'cmd:./server --port $PORT'"
        ));
    };
    let with_shell = format!(
        "cmd:sh -c {}",
        shlex::try_quote(command).unwrap_or_default()
    );
    if let Some(word) = words
        .iter()
        .find(|word| OF_A_SHELL.contains(&word.as_str()))
    {
        return Err(format!(
            "{shown}: `{word}` is for a shell, and there is none; if one is needed, write it like {with_shell}"
        ));
    }
    if program.contains('=') && !program.contains('/') {
        return Err(format!(
            "{shown}: variables are set by env, like cmd:env {command}"
        ));
    }
    Ok(words)
}

/// A command as it may be shown and recorded: each word without what may be a password.
pub(crate) fn shown(command: &str) -> String {
    if !command.contains("://") {
        return command.to_owned();
    }
    let Some(words) = shlex::split(command) else {
        return without_password(command);
    };
    let quoted = |word: &String| {
        let word = without_password(word);
        if word.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c)) {
            shlex::try_quote(&word).map_or_else(|_| word.clone(), Into::into)
        } else {
            word
        }
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        let cases: [(&str, &[&str]); 4] = [
            ("./server --port $PORT", &["./server", "--port", "$PORT"]),
            ("a 'b c' \"d $HOST:$PORT\"", &["a", "b c", "d $HOST:$PORT"]),
            (r"a b\ c", &["a", "b c"]),
            ("env A=1 ./b --c=d", &["env", "A=1", "./b", "--c=d"]),
        ];
        for (command, expected) in cases {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let cases = [
            ("./a --port $PORT", "./a --port $PORT"),
            (
                "./a  --db=postgres://u:s3cret@h/d --port $PORT",
                "./a --db=postgres://… --port $PORT",
            ),
            ("sh -c './a http://u:s3 cret@h; b'", "sh -c './a http://…'"),
            ("./a 'postgres://u:s3 cret@h", "./a 'postgres://…"),
        ];
        for (command, expected) in cases {
            assert_eq!(shown(command), expected, "{command}");
        }
        for command in [
            "./a x://s3cret && b",
            "A=1 ./a x://s3cret",
            "./a 'x://s3cret",
        ] {
            let error = words(command).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused_with_the_way_to_have_one() {
        for (command, expected) in [
            ("a && b", "cmd:sh -c 'a && b'"),
            ("a | b", "`|` is for a shell"),
            ("A=1 ./b", "cmd:env A=1 ./b"),
            ("a 'b", "not closed"),
            ("  ", "names no command"),
        ] {
            let error = words(command).unwrap_err();
            assert!(error.contains(expected), "{command}: {error}");
        }
    }
}
