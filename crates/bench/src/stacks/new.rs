//! Stacks of users: `deadheat stacks new`, a folder that passes `stacks check` for plaintext at once and says what is
//! left to do, and `deadheat stacks eject`, a copy of a stack to change.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deadheat_model::WorkloadManifest;
use deadheat_runner::{eject::eject as copy, manifest, prepare::in_shell};
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    output,
};

use crate::{
    options::{EjectArgs, NewArgs},
    select,
};

/// What a skeleton answers.
const ANSWERED: &str = "plaintext";

pub(crate) fn new(args: &NewArgs) -> Result<Exit, CommandFailure> {
    let name = Name::parse(&args.name)?;
    let skeleton = choose(&name, args.from.as_deref())?;
    let root = select::root(args.place.root.as_deref())?;
    // A mistake in another stack's manifest is no reason not to begin one.
    let workloads = manifest::read(&root.folder, &[])
        .map_err(CommandFailure::usage)?
        .catalogue
        .workloads;
    let left = left_to_do(&name, &workloads);
    // The last folder that was named is where new ones go. Stacks that are part of the program have a folder where
    // nobody works.
    let here = root.is_embedded.then_some(Path::new("."));
    let own = args.place.more_stacks.last().map(PathBuf::as_path).or(here);
    let folder = own.map_or_else(|| root.folder.join("stacks"), Path::to_owned);
    let folder = folder.join(name.id);
    let files = rendered(skeleton, &name, &left);
    if let Some(own) = own {
        fs::create_dir_all(own)
            .map_err(|error| CommandFailure::usage(format!("making {}: {error}", own.display())))?;
    }
    write(&folder, &files).map_err(|error| {
        let already = error.kind() == io::ErrorKind::AlreadyExists;
        let folder = folder.display();
        CommandFailure::usage(if already {
            format!("{folder} is there already; choose another name, or delete it")
        } else {
            format!("making {folder}: {error}")
        })
    })?;
    let again = own.map_or(String::new(), |own| {
        let words = ["--stacks".to_owned(), own.display().to_string()];
        format!(" {}", in_shell(&words))
    });
    output::data(&new_stack_text(
        skeleton, &name, &folder, &again, &files, &left,
    ))?;
    Ok(Exit::Fine)
}

fn choose(name: &Name<'_>, from: Option<&str>) -> Result<&'static Skeleton, CommandFailure> {
    let language = from.unwrap_or(name.language);
    find(language).ok_or_else(|| {
        let names = names();
        let id = name.id;
        CommandFailure::usage(format!(
            "no skeleton exists in `{language}`, only in {names}. To begin with the manifest and README.md of one of \
             them and write the server anew, run `deadheat stacks new {id} --from python`. To make the folder by \
             hand, see docs/adding-a-stack.md"
        ))
    })
}

/// What a new stack does not do yet, an item each.
fn left_to_do(name: &Name<'_>, workloads: &[WorkloadManifest]) -> Vec<String> {
    let framework = name.framework;
    let open = workloads.iter().filter(|one| one.id != ANSWERED);
    let routes = open.map(|one| {
        let path = one.path.replace("{rounds}", "N");
        format!("`{} {path}` ({}): {}", one.method, one.id, one.description)
    });
    let first = format!(
        "{framework} itself: pinned, with a lock file, fetched by `build.fetch`, and named in `[[locked]]`"
    );
    let last = [
        "`[database]`, which comes with `users`, and `limits` in stack.toml: correct them"
            .to_owned(),
        "`[protocols]` in stack.toml, if it speaks HTTP/2 or TLS in production: docs/adding-a-stack.md".to_owned(),
        "the last line of README.md, and this list in it".to_owned(),
    ];
    [first].into_iter().chain(routes).chain(last).collect()
}

/// The files of the new stack: paths in its folder, and texts.
fn rendered(skeleton: &Skeleton, name: &Name<'_>, left: &[String]) -> Vec<(&'static str, String)> {
    let items: Vec<String> = left.iter().map(|item| format!("- [ ] {item}")).collect();
    let fill = |text: &str| {
        text.replace("{{id}}", name.id)
            .replace("{{framework}}", name.framework)
            .replace("{{left}}", &items.join("\n"))
    };
    let files = skeleton.files.iter();
    files
        .map(|(path, text)| (path.trim_end_matches(".template"), fill(text)))
        .collect()
}

/// Writes all files into a folder that is not there yet; after a failure it is not there either.
fn write(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    fs::create_dir(folder)?;
    let written = files.iter().try_for_each(|(path, text)| {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    });
    if written.is_err() {
        // What cannot be written may not be deletable either; the first error is the one to report.
        let _ = fs::remove_dir_all(folder);
    }
    written
}

fn new_stack_text(
    skeleton: &Skeleton,
    name: &Name<'_>,
    folder: &Path,
    again: &str,
    files: &[(&str, String)],
    left: &[String],
) -> String {
    let id = name.id;
    let mut text = format!("made {}\n", folder.display());
    for (path, _) in files {
        text += &format!("  {path}\n");
    }
    if find(name.language).is_none_or(|own| own.language != skeleton.language) {
        text += &format!(
            "It is a stack in {} so far: `language`, `runtime`, `[[toolchain]]`, `[build]` and `[run]` in stack.toml \
             are to be written anew, too.\n",
            skeleton.language
        );
    }
    text += &format!(
        "next:\n  deadheat stacks check {id}{again}\n  deadheat run --stack {id} --workload {ANSWERED} --budget \
         1m{again}\nleft to do, as in its README.md (docs/adding-a-stack.md has the rules):\n"
    );
    for item in left {
        text += &format!("  - {}\n", item.replace('`', ""));
    }
    text
}

/// The name of a stack, LANGUAGE-FRAMEWORK.
struct Name<'a> {
    id: &'a str,
    language: &'a str,
    framework: &'a str,
}

impl<'a> Name<'a> {
    /// Parses a name.
    ///
    /// # Errors
    /// If it has another form, or other characters than names have.
    fn parse(id: &'a str) -> Result<Self, CommandFailure> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_alphanumeric());
        match id.split_once('-') {
            Some((language, framework))
                if starts(language) && starts(framework) && id.chars().all(plain) =>
            {
                Ok(Self {
                    id,
                    language,
                    framework,
                })
            }
            _ => Err(CommandFailure::usage(format!(
                "`{id}` is not a valid name for a stack; write LANGUAGE-FRAMEWORK in lower-case letters, digits, `-`, \
                 `_` and `.`, such as python-aiohttp"
            ))),
        }
    }
}

/// A stack that answers plaintext.
struct Skeleton {
    /// The language, as people write it.
    language: &'static str,
    /// What the names of stacks in this language begin with.
    names: &'static [&'static str],
    /// Path and text of each file; `{{id}}`, `{{framework}}` and `{{left}}` are places in them.
    files: &'static [(&'static str, &'static str)],
}

/// The files of a folder of `templates/`.
macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../templates/", $folder, "/", $path)))),*]
    };
}

/// The skeletons that a new stack can begin as, one for each language that has a server in its standard library or for
/// which a short one can be written. They are files in `templates/`, and need nothing from the network. (Rust's
/// manifest has another name here, because Cargo would take the folder for a package.)
const SKELETONS: &[Skeleton] = &[
    Skeleton {
        language: "C#",
        names: &["csharp", "dotnet", "cs"],
        files: files!("csharp": ".gitignore" "Program.cs" "README.md" "Routes.cs" "Server.csproj" "stack.toml"),
    },
    Skeleton {
        language: "Elixir",
        names: &["elixir"],
        files: files!("elixir": ".formatter.exs" ".gitignore" "README.md" "lib/server/application.ex"
            "lib/server/http.ex" "lib/server/listener.ex" "lib/server/routes.ex" "mix.exs" "stack.toml"),
    },
    Skeleton {
        language: "Go",
        names: &["go", "golang"],
        files: files!("go": ".gitignore" "README.md" "go.mod" "main.go" "routes.go" "stack.toml"),
    },
    Skeleton {
        language: "Java",
        names: &["java"],
        files: files!("java": ".gitignore" "README.md" "src/Main.java" "src/Routes.java" "stack.toml"),
    },
    Skeleton {
        language: "JavaScript",
        names: &["javascript", "js", "node", "nodejs"],
        files: files!("javascript": ".gitignore" "README.md" "package.json" "src/main.js" "src/routes.js"
            "src/serve.js" "stack.toml"),
    },
    Skeleton {
        language: "Nim",
        names: &["nim"],
        files: files!("nim": ".gitignore" "README.md" "src/routes.nim" "src/server.nim" "stack.toml"),
    },
    Skeleton {
        language: "PHP",
        names: &["php"],
        files: files!("php": ".gitignore" "README.md" "server.php" "src/http.php" "src/routes.php" "stack.toml"),
    },
    Skeleton {
        language: "Python",
        names: &["python", "py", "python3"],
        files: files!("python": ".gitignore" "README.md" "server/__init__.py" "server/__main__.py"
            "server/routes.py" "stack.toml"),
    },
    Skeleton {
        language: "Ruby",
        names: &["ruby"],
        files: files!("ruby": ".gitignore" "README.md" "lib/http.rb" "lib/routes.rb" "server.rb" "stack.toml"),
    },
    Skeleton {
        language: "Rust",
        names: &["rust"],
        files: files!("rust": ".gitignore" "Cargo.lock" "Cargo.toml.template" "README.md" "src/http.rs"
            "src/main.rs" "src/routes.rs" "stack.toml"),
    },
];

/// The skeleton in `language`, as a name or a person calls it.
fn find(language: &str) -> Option<&'static Skeleton> {
    let language = language.to_lowercase();
    SKELETONS
        .iter()
        .find(|one| one.language.to_lowercase() == language || one.names.contains(&&*language))
}

/// The languages that `--from` accepts, in a line.
fn names() -> String {
    let names: Vec<&str> = SKELETONS.iter().map(|one| one.names[0]).collect();
    names.join(", ")
}

pub(crate) fn eject(args: &EjectArgs) -> Result<Exit, CommandFailure> {
    let root = select::root(args.root.as_deref())?.folder;
    let id = args.rename.as_deref().unwrap_or(&args.name);
    if args.rename.is_some() {
        Name::parse(id)?;
    }
    // A mistake in another stack's manifest is no reason not to copy this one.
    let reading = manifest::read(&root, &[]).map_err(CommandFailure::usage)?;
    let mut stacks = reading.catalogue.stacks.iter();
    let stack = stacks.find(|stack| stack.manifest.id == args.name);
    let stack = stack.ok_or_else(|| {
        CommandFailure::usage(format!(
            "the stack `{}` does not exist; `deadheat stacks list` shows all of them",
            args.name
        ))
    })?;
    let folder = args.folder.join(id);
    let copied = copy(stack, &args.folder, id).map_err(|error| {
        let folder = folder.display();
        CommandFailure::usage(if error.kind() == io::ErrorKind::AlreadyExists {
            format!(
                "{folder} is there already; name another folder (deadheat stacks eject {} DIR), or delete it",
                args.name
            )
        } else {
            format!("copying {} to {folder}: {error}", args.name)
        })
    })?;
    output::data(&copy_text(&args.name, id, &args.folder, copied))?;
    Ok(Exit::Fine)
}

fn copy_text(name: &str, id: &str, place: &Path, copied: usize) -> String {
    let folder = place.join(id);
    let option = in_shell(&["--stacks".to_owned(), place.display().to_string()]);
    let versus = if name == id {
        format!(
            "With {option}, it replaces Deadheat's own {name}, and the report mentions that. To compare the two, copy \
             it under another name: deadheat stacks eject {name} --as NAME\n"
        )
    } else {
        format!("  deadheat compare {name} {id} {option}\n")
    };
    format!(
        "copied {name} to {} ({copied} files)\nchange it there, then:\n  deadheat stacks check {id} {option}\n  \
         deadheat run --stack {id} {option}\n{versus}",
        folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_their_names_and_by_those_of_stacks() {
        for (name, language) in [
            ("go", "Go"),
            ("node", "JavaScript"),
            ("C#", "C#"),
            ("Python", "Python"),
            ("dotnet", "C#"),
        ] {
            let found = find(name).map(|one| one.language);
            assert_eq!(found, Some(language), "{name}");
        }
        assert!(find("cobol").is_none() && find("").is_none());
    }

    #[test]
    fn no_name_stands_for_two_languages() {
        let mut names: Vec<&str> = SKELETONS
            .iter()
            .flat_map(|one| one.names)
            .copied()
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
