//! The skeletons that a new stack begins as, one for each language that has a server in its standard library or is soon
//! taught one. They are files in `templates/`, and need nothing from the network.

/// A stack that answers plaintext.
pub(super) struct Skeleton {
    /// The language, as people write it.
    pub(super) language: &'static str,
    /// How stacks' names begin that are written in it.
    pub(super) names: &'static [&'static str],
    /// Path and text of each file; `{{id}}`, `{{framework}}` and `{{left}}` are places in them.
    pub(super) files: &'static [(&'static str, &'static str)],
}

/// The files of a folder of `templates/`.
macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../templates/", $folder, "/", $path)))),*]
    };
}

/// All of them. (Rust's manifest has another name here, because Cargo would take the folder for a package.)
pub(super) const SKELETONS: &[Skeleton] = &[
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
pub(super) fn find(language: &str) -> Option<&'static Skeleton> {
    let language = language.to_lowercase();
    SKELETONS
        .iter()
        .find(|one| one.language.to_lowercase() == language || one.names.contains(&&*language))
}

/// What `--from` takes.
pub(super) fn names() -> String {
    let names: Vec<&str> = SKELETONS.iter().map(|one| one.names[0]).collect();
    names.join(", ")
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
