//! Commands and arguments: their words, and what of them may be shown and recorded.

use std::path::Path;

use deadheat_bench::meant;
use deadheat_loadtool::options::RequestArgs;
use deadheat_runner::{
    prepare::search_path,
    secret::{HIDDEN, header_value, without_password},
};
use deadheat_shell::exit::CommandFailure;

/// Shell operators that appear as separate words. Redirections may be a part of a word.
const OF_A_SHELL: [&str; 5] = ["&&", "||", "|", ";", "&"];
/// Shells, which understand what is in quotes behind them.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

/// The words of `command`, quoted as for a shell. There is no shell behind it: one would be a process more in every
/// figure.
pub(crate) fn words(command: &str) -> Result<Vec<String>, CommandFailure> {
    let typed = command;
    let command = &shown(command);
    let shown = format!("cmd:{command}");
    let Some(words) = shlex::split(typed) else {
        return Err(CommandFailure::usage(format!(
            "{shown}: a quotation mark is not closed, or a backslash is the last"
        )));
    };
    let Some(program) = words.first() else {
        return Err(CommandFailure::usage(format!(
            "{shown} names no command; write it like 'cmd:./server --port $PORT'"
        )));
    };
    let with_shell = format!(
        "cmd:sh -c {}",
        shlex::try_quote(command).unwrap_or_default()
    );
    let is_shell = |word: &String| SHELLS.contains(&word.rsplit('/').next().unwrap_or_default());
    if let Some(syntax) = for_a_shell(typed, words.iter().any(is_shell)) {
        return Err(CommandFailure::usage(format!(
            "{shown}: {syntax} is for a shell, and there is none; if one is needed, write it like {with_shell}"
        )));
    }
    if program.contains('=') && !program.contains('/') {
        return Err(CommandFailure::usage(format!(
            "{shown}: variables are set by env, like cmd:env {command}"
        )));
    }
    Ok(words)
}

/// What only a shell understands in a command, if there is anything. Quoted text is not for a shell, except for
/// substitutions in double quotes; if the command `has_shell`, that one makes them.
fn for_a_shell(command: &str, has_shell: bool) -> Option<String> {
    let mut quote = None;
    let mut begins_word = true;
    let mut chars = command.char_indices();
    while let Some((at, one)) = chars.next() {
        let rest = &command[at..];
        match (quote, one) {
            (Some(open), _) if open == one => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            (Some(_), _) if has_shell => {}
            (_, '`') => return Some("a backtick".to_owned()),
            (_, '$') if rest.starts_with("$(") => return Some("`$(`".to_owned()),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(one),
            (None, _) if begins_word => {
                if let Some(operator) = operator(rest) {
                    return Some(format!("`{operator}`"));
                }
            }
            (None, _) => {}
        }
        begins_word = quote.is_none() && one.is_whitespace();
    }
    None
}

/// The operator that the first word of `rest` is, or begins with: "&&", "2>".
fn operator(rest: &str) -> Option<&str> {
    let word = rest.split_whitespace().next()?;
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if word[digits..].starts_with(['<', '>']) {
        return Some(&word[..=digits]);
    }
    OF_A_SHELL.contains(&word).then_some(word)
}

/// Refuses a command whose program does not exist or cannot be run, before anything is started. `folder` is the one
/// that it runs in.
pub(crate) fn check_program(words: &[String], folder: &Path) -> Result<(), CommandFailure> {
    let Some(program) = program(words) else {
        return Ok(());
    };
    if !program.contains('/') {
        if meant::in_path(program) {
            return Ok(());
        }
        let here = folder.join(program).is_file();
        let here = here.then(|| format!(" Did you mean 'cmd:./{program}'?"));
        return Err(CommandFailure::usage(format!(
            "cmd:{program}: there is no program `{program}` in any folder of PATH ({}).{}",
            search_path(),
            here.unwrap_or_default()
        )));
    }
    let path = folder.join(program);
    let why = match () {
        () if path.is_dir() => "is a folder, and no program".to_owned(),
        () if !path.exists() => "does not exist".to_owned(),
        () if !meant::is_executable(&path) => match meant::interpreter(&path) {
            Some(interpreter) => {
                format!("is not executable. Did you mean 'cmd:{interpreter} {program} …'?")
            }
            None => format!("is not executable. To make it so: chmod +x {program}"),
        },
        () => return Ok(()),
    };
    Err(CommandFailure::usage(format!(
        "cmd:{program}: {} {why}",
        path.display()
    )))
}

/// The word that names the program: also the one that `env` starts. `None`: it is known only when the server starts.
fn program(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str).peekable();
    while words.peek() == Some(&"env") {
        words.next();
        while let Some(setting) = words.next_if(|word| word.contains('=')) {
            // It may be found elsewhere then.
            if setting.starts_with("PATH=") {
                return None;
            }
        }
    }
    let program = words.next()?;
    (!program.starts_with('-') && !program.contains('$') && !program.contains("://"))
        .then_some(program)
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

/// These arguments without a password of `--user`, without bodies and forms, and without the values of headers that a
/// load does not record either.
pub(crate) fn without_secrets(arguments: Vec<String>, request: &RequestArgs) -> Vec<String> {
    let headers = request.headers.iter();
    let hidden = headers.filter(|(name, value)| header_value(name, value) == HIDDEN);
    let secrets: Vec<&str> = hidden
        .map(|(_, value)| value.as_str())
        .chain(request.user.as_deref())
        .filter(|secret| !secret.is_empty())
        .collect();
    let shown = |argument: String| {
        // Options are written in several ways, all of which end with the value.
        let mut own = secrets.iter();
        let own = own.find_map(|secret| argument.trim_end().strip_suffix(secret));
        own.map(|before| format!("{before}{HIDDEN}"))
            .unwrap_or(argument)
    };
    without_contents(arguments).into_iter().map(shown).collect()
}

/// The arguments without bodies and without the values of a form's fields.
fn without_contents(arguments: Vec<String>) -> Vec<String> {
    let mut before = String::new();
    let shown = |argument: String| {
        let of_form = |field: &str| match field.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
        let shown = if ["-b", "--body"].contains(&before.as_str()) {
            HIDDEN.to_owned()
        } else if before == "--form" {
            of_form(&argument)
        } else if let Some(field) = argument.strip_prefix("--form=") {
            format!("--form={}", of_form(field))
        } else if argument.starts_with("--body=") {
            format!("--body={HIDDEN}")
        } else if argument.starts_with("-b") && argument.len() > 2 {
            format!("-b{HIDDEN}")
        } else {
            argument.clone()
        };
        before = argument;
        shown
    };
    arguments.into_iter().map(shown).collect()
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
    fn a_program_that_does_not_exist_is_found_before_anything_starts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), "").unwrap();
        let checked = |command: &str| check_program(&words(command).unwrap(), folder.path());
        for good in [
            "sh -c 'exit 1'",
            "env A=1 sh",
            "/bin/sh",
            "$SERVER x",
            "env -i sh",
        ] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for (wrong, expected) in [
            (
                "no-such-program --port $PORT",
                "no program `no-such-program` in any folder of PATH (",
            ),
            ("env A=1 no-such-program", "no program `no-such-program`"),
            ("server.py", "Did you mean 'cmd:./server.py'?"),
            ("./server.py", "'cmd:python3 ./server.py …'"),
            ("./no-such-file", "does not exist"),
            ("./", "is a folder"),
        ] {
            let error = checked(wrong).unwrap_err().to_string();
            assert!(error.contains(expected), "{wrong}: {error}");
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
            let error = words(command).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused_with_the_way_to_have_one() {
        for (command, expected) in [
            ("a && b", "cmd:sh -c 'a && b'"),
            ("a | b", "`|` is for a shell"),
            ("a 2>/dev/null", "`2>` is for a shell"),
            ("a >log", "cmd:sh -c 'a >log'"),
            ("a 2>&1", "`2>` is for a shell"),
            ("a < b", "`<` is for a shell"),
            ("a --port $(./port)", "`$(` is for a shell"),
            ("a \"$(./b)\"", "`$(` is for a shell"),
            ("a `./b`", "a backtick is for a shell"),
            ("A=1 ./b", "cmd:env A=1 ./b"),
            ("a 'b", "not closed"),
            ("  ", "names no command"),
        ] {
            let error = words(command).unwrap_err().to_string();
            assert!(error.contains(expected), "{command}: {error}");
        }
        for command in [
            "a b=>c",
            "a http://h/>x",
            "a '>5' '&&' '2>&1'",
            r"a \>5 \$\(b \`",
            "sh -c 'exec ./a --port $(./port) 2>/dev/null | b'",
            "env A=1 /bin/sh -c \"exec ./a --port $(./port)\"",
            "a $PORT $ 2",
        ] {
            assert!(words(command).is_ok(), "{command}");
        }
    }

    #[test]
    fn no_way_of_writing_an_option_shows_its_secret() {
        let request = RequestArgs {
            user: Some("ann:s3cret".to_owned()),
            headers: vec![
                ("X-Token".to_owned(), "s3cret 2".to_owned()),
                ("Accept".to_owned(), "text/html".to_owned()),
            ],
            ..RequestArgs::default()
        };
        let typed = [
            "--user",
            "ann:s3cret",
            "--user=ann:s3cret",
            "-H",
            "X-Token: s3cret 2",
            "-HX-Token:s3cret 2 ",
            "--header=Accept: text/html",
            "-b",
            "s3cret",
            "--body=s3cret",
            "-bs3cret",
            "--body-file",
            "a.json",
            "--form",
            "pin=s3cret",
            "--form=pin=s3cret",
        ];
        let shown = without_secrets(typed.map(str::to_owned).into(), &request);
        let expected = [
            "--user",
            "…",
            "--user=…",
            "-H",
            "X-Token: …",
            "-HX-Token:…",
            "--header=Accept: text/html",
            "-b",
            "…",
            "--body=…",
            "-b…",
            "--body-file",
            "a.json",
            "--form",
            "pin=…",
            "--form=pin=…",
        ];
        assert_eq!(shown, expected);
    }
}
