//! What users may have meant when they typed something else in place of a stack, a session or a server.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use deadheat_import::has_reports;
use deadheat_runner::{
    files::{LONGEST_TEXT, read_typed},
    manifest::nearest,
    prepare::search_path,
    secret::without_password,
    session::HEADER_FILE,
};

/// Programs that run files with these endings.
const INTERPRETERS: [(&str, &str); 9] = [
    ("py", "python3"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("rb", "ruby"),
    ("php", "php"),
    ("pl", "perl"),
    ("sh", "sh"),
    ("jar", "java -jar"),
];
/// Endings of files that are compared, even if there is no such file.
const OF_FILES: [&str; 7] = ["json", "txt", "log", "csv", "md", "html", "out"];
/// Domains that nobody would give to a stack.
const LOCAL: [&str; 2] = ["localhost", "localhost.localdomain"];

/// Whether no stack can have this name: it is an address, or ends like a file that is compared.
pub fn is_never_a_name(text: &str) -> bool {
    is_address(text) || ending(text).is_some_and(|ending| OF_FILES.contains(&ending))
}

/// A sentence about what `text` is, and what `deadheat compare` takes instead; `None`: it looks like a name.
pub fn instead_of(text: &str) -> Option<String> {
    let path = Path::new(text);
    if is_address(text) {
        return Some(format!(
            "{text} is an address. Did you mean the server that runs there, {}?",
            url_of(text)
        ));
    }
    if text.contains("://") {
        let shown = without_password(text);
        return Some(format!(
            "{shown} is neither http:// nor https://, which are all that Deadheat speaks"
        ));
    }
    if path.is_dir() {
        return Some(of_a_folder(path, text));
    }
    if path.is_file() {
        return Some(of_a_file(path, text));
    }
    if let Some(file) = first_word(text) {
        return Some(format!(
            "{file} … is a command, and commands begin with cmd:. Did you mean 'cmd:{}'?",
            without_password(text)
        ));
    }
    let names_file = ending(text).is_some_and(|ending| {
        OF_FILES.contains(&ending) || INTERPRETERS.iter().any(|(known, _)| *known == ending)
    });
    (text.contains('/') || text.starts_with(['.', '~']) || names_file).then(|| missing(path, text))
}

/// What was meant by a name that no stack has.
pub fn instead_of_name(name: &str) -> Option<String> {
    if is_port(name) {
        return Some(format!(
            "{name} is a port. Did you mean the server that runs there, http://localhost:{name}/?"
        ));
    }
    // The port of a host whose name could be a stack's.
    if name.split_once(':').is_some_and(|(_, port)| is_port(port)) {
        return Some(format!(
            "there is no stack {name}. Did you mean the server that runs there, {}?",
            url_of(name)
        ));
    }
    instead_of(name).or_else(|| {
        in_path(name).then(|| {
            format!("{name} is a program, and no stack. Did you mean 'cmd:{name} …', with its arguments?")
        })
    })
}

/// What was meant by the name of a stack where only stacks can be named.
pub(crate) fn instead_of_stack(text: &str) -> Option<String> {
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    if is_url || is_address(text) {
        let shown = if text.contains('@') {
            without_password(text)
        } else {
            text.to_owned()
        };
        let url = if is_url { shown.clone() } else { url_of(text) };
        return Some(format!(
            "{shown} is a server that is running, and no stack. To load it: deadheat load {url}"
        ));
    }
    if text.starts_with("cmd:") {
        return Some(
            "cmd: is not a stack. Commands are compared: deadheat compare cmd:COMMAND cmd:COMMAND"
                .to_owned(),
        );
    }
    let path = Path::new(text);
    let is_path = text.contains('/') || is_executable(path) || interpreter(path).is_some();
    (is_path && path.exists()).then(|| {
        format!("{text} is a file or folder, and no stack. --stacks DIR adds the stacks of a folder; `deadheat compare` takes commands (cmd:COMMAND)")
    })
}

/// Whether this is a host with a port, or with a path, as browsers take it.
pub fn is_address(text: &str) -> bool {
    let (origin, has_path) = match text.split_once('/') {
        Some((origin, _)) => (origin, true),
        None => (text, false),
    };
    if origin.contains([' ', '@', '=']) {
        return false;
    }
    let (host, port) = match origin.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (origin, None),
    };
    let is_port = port.is_some_and(is_port);
    let is_v6 = host.starts_with('[') && host.ends_with(']');
    let is_v4 = host.parse::<std::net::Ipv4Addr>().is_ok();
    let is_local = LOCAL.contains(&host) || host.is_empty() && is_port;
    let is_host = is_v6 || is_v4 || is_local;
    // A file may have a point in its name, and a domain a colon after it.
    let is_domain = host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
    is_host && (is_port || port.is_none() && (has_path || is_v4 || is_local))
        || is_domain && is_port
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The URL of an address.
fn url_of(text: &str) -> String {
    let host = if text.starts_with(':') {
        "localhost"
    } else {
        ""
    };
    let slash = if text.contains('/') { "" } else { "/" };
    format!("http://{host}{text}{slash}")
}

fn ending(text: &str) -> Option<&str> {
    Path::new(text).extension()?.to_str()
}

fn of_a_folder(path: &Path, text: &str) -> String {
    let none =
        format!("{text} is a folder without a session ({HEADER_FILE}) or a record of a load");
    let sessions = fs::read_dir(path).ok().map(|entries| {
        let folders = entries.flatten().map(|entry| entry.path());
        let mut sessions: Vec<PathBuf> = folders
            .filter(|folder| folder.join(HEADER_FILE).is_file())
            .collect();
        sessions.sort();
        sessions
    });
    match sessions.unwrap_or_default().last() {
        Some(newest) => format!("{none}. Did you mean {}?", newest.display()),
        None => none,
    }
}

fn of_a_file(path: &Path, text: &str) -> String {
    // Without a slash it would be looked up in the PATH.
    let program = if text.contains('/') {
        text.to_owned()
    } else {
        format!("./{text}")
    };
    let quoted = |command: &str| format!("Did you mean 'cmd:{command}'?");
    if is_executable(path) {
        return format!("{text} is a program. {}", quoted(&program));
    }
    if let Some(interpreter) = interpreter(path) {
        return format!(
            "{text} is a program. {}",
            quoted(&format!("{interpreter} {text}"))
        );
    }
    if read_typed(path, LONGEST_TEXT).is_ok_and(|bytes| has_reports(&bytes)) {
        return format!(
            "{text} has reports of another tool: compare it with a file that has some, too"
        );
    }
    format!(
        "{text} is a file without a record of `deadheat load -o FILE.json` or a report of ab, wrk, hey or another tool"
    )
}

/// The program of a command that was typed without `cmd:`: its first word, if that is one.
fn first_word(text: &str) -> Option<&str> {
    let (first, _) = text.split_once(' ')?;
    let is_program = if first.contains('/') {
        is_executable(Path::new(first))
    } else {
        in_path(first)
    };
    is_program.then_some(first)
}

fn missing(path: &Path, text: &str) -> String {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok();
    let names: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let found = name.and_then(|name| {
        let found = nearest(&name, names.iter().map(String::as_str))?;
        Some(folder.map_or_else(
            || found.to_owned(),
            |folder| folder.join(found).display().to_string(),
        ))
    });
    let none = format!("there is no file or folder {text}");
    match found {
        Some(found) => format!("{none}. Did you mean {found}?"),
        None => none,
    }
}

/// The program that runs files with this ending.
pub fn interpreter(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    let mut known = INTERPRETERS.iter();
    known
        .find(|(one, _)| *one == ending)
        .map(|(_, program)| *program)
}

/// Whether this file is executable.
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether there is a program of this name where commands are looked up.
pub fn in_path(name: &str) -> bool {
    let folders = search_path();
    !name.is_empty()
        && !name.contains('/')
        && folders
            .split(':')
            .any(|folder| is_executable(&Path::new(folder).join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_answered_with_their_urls() {
        let cases = [
            ("localhost:8080", "http://localhost:8080/"),
            ("127.0.0.1:8080/x?y", "http://127.0.0.1:8080/x?y"),
            ("[::1]:80", "http://[::1]:80/"),
            (":8080", "http://localhost:8080/"),
            ("api.example.org:443", "http://api.example.org:443/"),
            ("localhost/health", "http://localhost/health"),
        ];
        for (typed, url) in cases {
            let said = instead_of(typed).unwrap_or_default();
            assert!(said.contains(&format!(" {url}?")), "{typed}: {said}");
        }
        for name in ["8080", "backend:8080"] {
            assert!(
                instead_of_name(name).is_some_and(|said| said.contains("http://")),
                "{name}"
            );
        }
    }

    #[test]
    fn names_are_no_addresses_and_no_files() {
        for name in ["go-nethttp", "go-nethttp:1cpu", "go-x@main", "a:b"] {
            assert_eq!(instead_of(name), None, "{name}");
        }
        assert!(!is_never_a_name("next.js") && is_never_a_name("before.txt"));
    }

    #[test]
    fn where_stacks_are_started_a_server_is_answered_with_load() {
        for typed in ["localhost:8080", "http://localhost:8080/"] {
            let said = instead_of_stack(typed).unwrap();
            assert!(
                said.ends_with("deadheat load http://localhost:8080/"),
                "{said}"
            );
        }
        assert_eq!(instead_of_stack("go-*"), None);
    }

    #[test]
    fn files_and_folders_are_answered_with_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let typed = |name: &str| path(name).display().to_string();
        fs::write(path("old"), "").unwrap();
        fs::set_permissions(path("old"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path("server.py"), "").unwrap();
        fs::write(path("notes.txt"), "nothing").unwrap();
        fs::create_dir_all(path("results/20260301-1")).unwrap();
        fs::write(path("results/20260301-1").join(HEADER_FILE), "").unwrap();
        let cases = [
            ("old", format!("'cmd:{}'", typed("old"))),
            ("server.py", format!("'cmd:python3 {}'", typed("server.py"))),
            ("notes.txt", "file without a record".to_owned()),
            (
                "results",
                format!("Did you mean {}?", typed("results/20260301-1")),
            ),
            (
                "results/20260302-1",
                format!("Did you mean {}?", typed("results/20260301-1")),
            ),
            ("nothing/like/it", "there is no file or folder".to_owned()),
        ];
        for (name, expected) in cases {
            let said = instead_of(&typed(name)).unwrap_or_default();
            assert!(said.contains(&expected), "{name}: {said}");
        }
        let said = instead_of("sh -c 'exit 1'").unwrap();
        assert!(said.contains("'cmd:sh -c 'exit 1''"), "{said}");
    }
}
