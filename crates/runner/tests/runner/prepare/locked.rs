use deadheat_model::stack::LockedPackage;
use deadheat_runner::prepare::locked::{LockedError, SUPPORTED, find_version, is_supported};

use proptest::prelude::*;

use super::Workshop;

const GO_MOD: &str = "\
module example.com/server

go 1.25.0

require github.com/single/one v1.0.0 // a comment

require (
\tgithub.com/jackc/pgx/v5 v5.12.0
\tgithub.com/jackc/puddle/v2 v2.2.2 // indirect
\tgolang.org/x/sync v0.17.0
)

replace golang.org/x/sync => example.com/fork/sync v0.18.1

replace (
\tgithub.com/single/one v1.0.0 => ../one
)
";

const PACKAGE_LOCK: &str = r#"{
  "name": "server", "version": "1.0.0", "lockfileVersion": 3,
  "packages": {
    "": { "name": "server", "dependencies": { "pg": "^8.0.0" } },
    "node_modules/pg": { "version": "8.16.3" },
    "node_modules/@scope/thing": { "version": "2.0.0-rc.1" },
    "node_modules/express/node_modules/pg": { "version": "7.0.0" }
  }
}"#;

const REQUIREMENTS: &str = "\
# by pip-compile
flask==3.1.2 \\
    --hash=sha256:aaa
    # via -r requirements.in
psycopg[binary,pool]==3.2.12 ; python_version >= '3.10'
Flask-SQLAlchemy == 3.0  # a comment
typing_extensions===4.15.0
uvloop>=0.20
";

const CARGO_LOCK: &str = r#"
version = 4

[[package]]
name = "rand"
version = "0.9.2"

[[package]]
name = "rand"
version = "0.10.0"

[[package]]
name = "axum"
version = "0.8.6"
dependencies = ["rand 0.9.2"]
"#;

const POM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- <dependency><groupId>io.vertx</groupId><artifactId>vertx-web</artifactId><version>1</version></dependency> -->
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>3.5.6</version>
  </parent>
  <version>1.2.3</version>
  <properties>
    <vertx.version>5.0.${patch}</vertx.version>
    <patch> 4 </patch>
    <loop>${loop}</loop>
  </properties>
  <dependencyManagement><dependencies>
    <dependency>
      <groupId>io.vertx</groupId><artifactId>vertx-stack-depchain</artifactId>
      <version>${vertx.version}</version><type>pom</type><scope>import</scope>
    </dependency>
    <dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId><version>42.7.8</version></dependency>
    <dependency><groupId>com.zaxxer</groupId><artifactId>HikariCP</artifactId><version>6.0</version></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>com.example</groupId><artifactId>other</artifactId><version>9</version>
      <exclusions><exclusion><groupId>a</groupId><artifactId>excluded</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId></dependency>
    <dependency><groupId>com.zaxxer</groupId><artifactId>HikariCP</artifactId><version> 7.0.2 </version></dependency>
    <dependency><groupId>io.vertx</groupId><artifactId>vertx-web</artifactId></dependency>
    <dependency><groupId>${project.groupId}</groupId><artifactId>sibling</artifactId><version>${project.version}</version></dependency>
    <dependency><groupId>a</groupId><artifactId>range</artifactId><version>[1.0,2.0)</version></dependency>
    <dependency><groupId>a</groupId><artifactId>latest</artifactId><version>LATEST</version></dependency>
    <dependency><groupId>a</groupId><artifactId>unknown</artifactId><version>${revision}</version></dependency>
    <dependency><groupId>a</groupId><artifactId>loop</artifactId><version>${loop}</version></dependency>
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.14.1</version></plugin>
  </plugins></build>
</project>
"#;

const GEMFILE_LOCK: &str = "\
GIT
  remote: https://github.com/example/thing.git
  revision: 0123456789abcdef
  specs:
    thing (0.3.0)
      rack (>= 2)

GEM
  remote: https://rubygems.org/
  specs:
    nokogiri (1.18.9)
    nokogiri (1.18.9-x86_64-linux-gnu)
      racc (~> 1.4)
    pg (1.7.0)
    puma (8.0.2)
      nio4r (~> 2.0)
    rack (3.2.0.rc1)

PLATFORMS
  ruby
  x86_64-linux

DEPENDENCIES
  pg (~> 1.7)
  nio4r (9.9)

BUNDLED WITH
   2.4.20
";

const MIX_LOCK: &str = r#"%{
  "bandit": {:hex, :bandit, "1.8.0", "c2e9", [:mix], [{:plug, "~> 1.18", [hex: :plug, repo: "hexpm", optional: false]}, {:only_needed, "~> 9.0", [hex: :only_needed]}], "hexpm", "8458"},
  "fork": {:git, "https://example.com/fork.git", "0123456789abcdef", [tag: "v1"]},
  # "commented": {:hex, :commented, "1.0.0"},
  "plug": {:hex, :plug, "1.18.1-rc.0", "5067\"", [:mix], [], "hexpm", "57a5"},
  "renamed": {:hex, :other_name, "0.1.0", "a", [:rebar3], [], "hexpm", "b"},
  "odd": {:path, "../odd"},
}
"#;

const PACKAGES_LOCK: &str = r#"{
  "version": 1,
  "dependencies": {
    "net9.0": { "Npgsql": { "type": "Direct", "requested": "[9.0.0, )", "resolved": "9.0.0", "contentHash": "x" } },
    "net10.0": {
      "Npgsql": { "type": "Direct", "requested": "[10.0.0, )", "resolved": "10.0.0" },
      "Microsoft.EntityFrameworkCore": { "type": "Transitive", "resolved": "10.0.14" },
      "shared.project": { "type": "Project", "dependencies": { "Npgsql": "[8.0.0, )" } }
    }
  }
}"#;

const COWBOY_APP: &str = r#"%% -*- {application, ranch, [{vsn, "0"}]} -*-
{application, 'cowboy', [
	{description, "Small \"fast\" {vsn, \"0.0.0\"}, modern HTTP server."},
	{vsn, "2.12.0"}, % "2.13.0"
	{modules, ['cowboy','cowboy_app']},
	{applications, [kernel,stdlib,crypto,cowlib,ranch]}
]}.
"#;

fn locked(file: &str, package: &str) -> LockedPackage {
    LockedPackage {
        file: file.to_owned(),
        package: package.to_owned(),
    }
}

fn version(file: &str, text: &str, package: &str) -> Result<String, LockedError> {
    let workshop = Workshop::new();
    workshop.file(&format!("stack/{file}"), text);
    let found = find_version(&workshop.path("stack"), &locked(file, package))?;
    let found = found.expect("the file is there");
    assert_eq!(found.name, package);
    Ok(found.version)
}

#[test]
fn versions_are_read_from_all_lock_files() {
    let cases = [
        ("go.mod", GO_MOD, "github.com/jackc/pgx/v5", "5.12.0"),
        ("go.mod", GO_MOD, "github.com/jackc/puddle/v2", "2.2.2"),
        ("go.mod", GO_MOD, "github.com/single/one", "1.0.0"),
        ("go.mod", GO_MOD, "golang.org/x/sync", "0.18.1"),
        ("package-lock.json", PACKAGE_LOCK, "pg", "8.16.3"),
        (
            "package-lock.json",
            PACKAGE_LOCK,
            "@scope/thing",
            "2.0.0-rc.1",
        ),
        ("requirements.txt", REQUIREMENTS, "flask", "3.1.2"),
        ("requirements.txt", REQUIREMENTS, "psycopg", "3.2.12"),
        ("requirements.txt", REQUIREMENTS, "flask_sqlalchemy", "3.0"),
        (
            "requirements.txt",
            REQUIREMENTS,
            "Typing.Extensions",
            "4.15.0",
        ),
        ("Cargo.lock", CARGO_LOCK, "axum", "0.8.6"),
        ("Cargo.lock", CARGO_LOCK, "rand", "0.10.0"),
        ("server/Cargo.lock", CARGO_LOCK, "axum", "0.8.6"),
        (
            "pom.xml",
            POM,
            "org.springframework.boot:spring-boot-starter-parent",
            "3.5.6",
        ),
        ("pom.xml", POM, "io.vertx:vertx-stack-depchain", "5.0.4"),
        ("pom.xml", POM, "org.postgresql:postgresql", "42.7.8"),
        ("pom.xml", POM, "com.zaxxer:HikariCP", "7.0.2"),
        ("pom.xml", POM, "org.springframework.boot:sibling", "1.2.3"),
        (
            "pom.xml",
            POM,
            "org.apache.maven.plugins:maven-compiler-plugin",
            "3.14.1",
        ),
        ("Gemfile.lock", GEMFILE_LOCK, "puma", "8.0.2"),
        ("Gemfile.lock", GEMFILE_LOCK, "rack", "3.2.0.rc1"),
        ("Gemfile.lock", GEMFILE_LOCK, "nokogiri", "1.18.9"),
        ("Gemfile.lock", GEMFILE_LOCK, "thing", "0.3.0"),
        ("mix.lock", MIX_LOCK, "bandit", "1.8.0"),
        ("mix.lock", MIX_LOCK, "plug", "1.18.1-rc.0"),
        ("mix.lock", MIX_LOCK, "renamed", "0.1.0"),
        ("mix.lock", MIX_LOCK, "fork", "0123456789abcdef"),
        ("packages.lock.json", PACKAGES_LOCK, "npgsql", "10.0.0"),
        (
            "app/packages.lock.json",
            PACKAGES_LOCK,
            "Microsoft.EntityFrameworkCore",
            "10.0.14",
        ),
        (
            "deps/cowboy/ebin/cowboy.app",
            COWBOY_APP,
            "cowboy",
            "2.12.0",
        ),
    ];
    for (file, text, package, expected) in cases {
        assert_eq!(
            version(file, text, package).unwrap(),
            expected,
            "{package} in {file}"
        );
    }
}

#[test]
fn a_package_that_is_not_locked_is_named_with_its_file() {
    let cases = [
        ("go.mod", GO_MOD, "github.com/jackc/pgx"),
        ("package-lock.json", PACKAGE_LOCK, "express"),
        // A range is not a version.
        ("requirements.txt", REQUIREMENTS, "uvloop"),
        ("Cargo.lock", CARGO_LOCK, "tokio"),
        ("go.mod", "", "x"),
        ("pom.xml", POM, "io.vertx:vertx-core"),
        ("pom.xml", POM, "a:excluded"),
        // What another gem, package or project needs is a range.
        ("Gemfile.lock", GEMFILE_LOCK, "racc"),
        ("Gemfile.lock", GEMFILE_LOCK, "nio4r"),
        ("mix.lock", MIX_LOCK, "only_needed"),
        ("mix.lock", MIX_LOCK, "commented"),
        ("mix.lock", "%{}", "x"),
        ("packages.lock.json", PACKAGES_LOCK, "Dapper"),
        ("packages.lock.json", PACKAGES_LOCK, "shared.project"),
        ("cowboy.app", COWBOY_APP, "ranch"),
    ];
    for (file, text, package) in cases {
        let error = version(file, text, package).unwrap_err();
        assert!(matches!(error, LockedError::Missing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(file) && text.contains(package) && text.contains("[[locked]]"),
            "{text}"
        );
    }
}

#[test]
fn a_file_that_is_not_what_it_is_called_is_refused() {
    let cases = [
        ("package-lock.json", "not json", "expected"),
        (
            "package-lock.json",
            r#"{"lockfileVersion": 1, "dependencies": {}}"#,
            "npm 7 or later",
        ),
        ("Cargo.lock", "= 3", "key"),
        ("build.gradle", "plugins {}", "not known"),
        ("pom.xml", "<project/>", "group:artifact"),
        ("Gemfile.lock", "gem 'pg'", "bundle lock"),
        ("mix.lock", "", "not a map"),
        ("mix.lock", "%{\"x\": ", "no version"),
        ("mix.lock", "%{\"x", "never closed"),
        (
            "mix.lock",
            "%{\"x\": {:path, \"../x\", \"1.0\"}}",
            "no version",
        ),
        ("packages.lock.json", "{\"version\": 1}", "use-lock-file"),
        ("packages.lock.json", "[]", "use-lock-file"),
        ("x.app", "", "no application"),
        (
            "x.app",
            "{application, x, [{vsn, git}]}.",
            "`vsn` is not a string",
        ),
        ("x.app", "{application, x, [{vsn, \"", "never closed"),
    ];
    for (file, text, reason) in cases {
        let error = version(file, text, "x").unwrap_err();
        assert!(matches!(error, LockedError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn what_a_pom_leaves_open_is_said() {
    let cases = [
        (POM, "io.vertx:vertx-web", "the parent or a BOM decides"),
        (POM, "a:range", "`[1.0,2.0)`, which is not one version"),
        (POM, "a:latest", "`LATEST`, which is not one version"),
        (POM, "a:unknown", "${revision}, which the properties"),
        (POM, "a:loop", "${loop}, which the properties"),
        ("not XML", "a:b", "unknown token"),
        ("<project>", "a:b", "never closed"),
        ("<settings/>", "a:b", "no `<project>`"),
    ];
    for (text, package, reason) in cases {
        let error = version("pom.xml", text, package).unwrap_err();
        assert!(matches!(error, LockedError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_said_to_be_missing() {
    let workshop = Workshop::new();
    for file in ["go.mod", "pom.xml", "mix.lock"] {
        let error = find_version(&workshop.path("stack"), &locked(file, "x"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("{file}: No such file")), "{error}");
    }
}

#[test]
fn what_a_fetch_will_bring_is_not_known_before_it() {
    let workshop = Workshop::new();
    let file = "deps/cowboy/ebin/cowboy.app";
    let find = || find_version(&workshop.path("stack"), &locked(file, "cowboy")).unwrap();
    assert!(find().is_none());
    workshop.file(&format!("stack/{file}"), COWBOY_APP);
    assert_eq!(find().unwrap().version, "2.12.0");
}

#[test]
fn a_mark_of_the_byte_order_is_no_part_of_a_file() {
    for (file, text, package) in [
        ("packages.lock.json", PACKAGES_LOCK, "Npgsql"),
        ("pom.xml", POM, "com.zaxxer:HikariCP"),
    ] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(
            version(file, &marked, package).unwrap(),
            version(file, text, package).unwrap()
        );
    }
}

/// Every kind of lock file, with a package that is in it.
const SAMPLES: [(&str, &str, &str); 9] = [
    ("go.mod", GO_MOD, "golang.org/x/sync"),
    ("package-lock.json", PACKAGE_LOCK, "pg"),
    ("requirements.txt", REQUIREMENTS, "flask"),
    ("Cargo.lock", CARGO_LOCK, "rand"),
    ("pom.xml", POM, "io.vertx:vertx-stack-depchain"),
    ("Gemfile.lock", GEMFILE_LOCK, "nokogiri"),
    ("mix.lock", MIX_LOCK, "plug"),
    ("packages.lock.json", PACKAGES_LOCK, "Npgsql"),
    ("cowboy.app", COWBOY_APP, "cowboy"),
];

#[test]
fn a_file_that_breaks_off_anywhere_gives_its_version_or_an_error() {
    let workshop = Workshop::new();
    let folder = workshop.path("stack");
    for (file, text, package) in SAMPLES {
        let whole = version(file, text, package).unwrap();
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            workshop.file(&format!("stack/{file}"), &text[..end]);
            if let Ok(found) = find_version(&folder, &locked(file, package)) {
                let found = found.unwrap().version;
                // Some formats have no end, so that a version may break off, or the lines that overrule it be lost.
                let lines = ["go.mod", "requirements.txt", "Cargo.lock"].contains(&file);
                assert!(found == whole || lines, "{file}, {end} bytes: {found}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(
        sample in 0..SAMPLES.len(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        noise in prop::collection::vec(any::<u8>(), 0..64),
        whole in any::<bool>(),
    ) {
        let (file, text, package) = SAMPLES[sample];
        let mut bytes = if whole { text.as_bytes().to_vec() } else { noise };
        for (place, byte) in places {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file), bytes).unwrap();
        // Whatever it says, it says it.
        match find_version(folder.path(), &locked(file, package)) {
            Ok(found) => prop_assert!(found.is_some_and(|found| !found.version.is_empty())),
            Err(error) => prop_assert!(error.to_string().contains(file)),
        }
    }
}

#[test]
fn every_supported_name_has_a_parser() {
    assert!(SUPPORTED.into_iter().all(is_supported));
    assert!(!is_supported("go.sum") && !is_supported(""));
}
