use std::path::Path;

use deadheat_model::stack::LockedPackage;
use deadheat_runner::{
    manifest::load,
    prepare::locked::{LockedError, find_version},
};

use super::Workshop;

/// The version of `package` in `file` with the content `text`.
fn version(
    file: &str,
    text: &str,
    package: &str,
    pattern: Option<&str>,
) -> Result<String, LockedError> {
    let workshop = Workshop::new();
    workshop.file(&format!("stack/{file}"), text);
    let locked = LockedPackage {
        file: file.to_owned(),
        package: package.to_owned(),
        pattern: pattern.map(str::to_owned),
    };
    let found = find_version(&workshop.path("stack"), &locked)?;
    let found = found.expect("the file is there");
    assert_eq!(found.name, package);
    Ok(found.version)
}

#[test]
fn every_locked_package_of_every_stack_has_a_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<String> = Vec::new();
    for stack in load(&root, &[]).unwrap().stacks {
        for locked in &stack.manifest.locked {
            let found = find_version(&stack.dir, locked).unwrap();
            // A fetch brings the descriptions of Erlang applications.
            let is_there = !locked.file.ends_with(".app") || stack.dir.join(&locked.file).exists();
            assert_eq!(found.is_some(), is_there, "{locked:?}");
            let version = found.map_or_else(|| "1".to_owned(), |found| found.version);
            assert!(
                version.starts_with(|c: char| c.is_ascii_digit()),
                "{locked:?}: {version}"
            );
            files.push(locked.file.clone());
        }
    }
    assert!(files.len() > 100, "{files:?}");
}

/// Lock files of all known kinds with version 1.2.3 of a package, and other versions around it.
const SAMPLES: [(&str, &str, &str); 14] = [
    (
        "go.mod",
        "example.com/x",
        "require example.com/x/v5 v5.0.0\nrequire (\n\texample.com/x v1.2.3 // indirect\n\texample.com/xx v2.0.0\n)\n\
         replace example.com/xx v1.2.3 => ../x\n",
    ),
    (
        "server/package-lock.json",
        "@x/x",
        r#"{"packages": {"": {"version": "9.0.0"}, "node_modules/@x/x": {"name": "y", "version": "1.2.3", "dependencies": {"z": "1"}},
           "node_modules/@x/xx": {"version": "2.0.0"}, "node_modules/a/node_modules/@x/x": {"version": "3.0.0"}}}"#,
    ),
    (
        "requirements.txt",
        "x",
        "x-y==2.0\nx==1.2.3 \\\n    --hash=sha256:00\n    # via x\n",
    ),
    (
        "requirements.txt",
        "x",
        "x[a,b] === 1.2.3; python_version > '3'\nX.x==2\n",
    ),
    (
        "Cargo.lock",
        "x",
        "[[package]]\nname = \"x-y\"\nversion = \"2.0.0\"\n\n[[package]]\r\nname = \"x\"\r\nversion = \"1.2.3\"\n\
         dependencies = [\n \"x 3.0.0\",\n]\n",
    ),
    (
        "pom.xml",
        "a.b:x",
        "<project><version>9</version><parent><groupId>a.b</groupId>\n<artifactId>x</artifactId>\n\
         <version>1.2.3</version></parent><dependency><groupId>a.c</groupId><artifactId>x</artifactId>\
         <version>2.0</version></dependency></project>",
    ),
    (
        "pom.xml",
        "a.b:x",
        "<!-- <groupId>a.b</groupId><artifactId>x</artifactId><version>1.0</version>\n-->\
         <dependency><artifactId>x</artifactId><!-- x -->\n<groupId>a.b</groupId> <version> 1.2.3 </version></dependency>",
    ),
    (
        "Gemfile.lock",
        "x",
        "GEM\n  specs:\n    x (1.2.3)\n    x (1.2.3-x86_64-linux-gnu)\n      y (~> 2.0)\n    z (3)\n      x (>= 1)\n\n\
         DEPENDENCIES\n  x (~> 1.2)\n",
    ),
    (
        "mix.lock",
        "x",
        "%{\n  \"x\": {:hex, :renamed, \"1.2.3\", \"c2e9\", [:mix], [{:y, \"~> 1.18\", []}], \"hexpm\", \"8458\"},\n\
         \x20 \"z\": {:hex, :z, \"2.0.0\", \"\", [:mix], [{:x, \"~> 3.0\", []}], \"hexpm\", \"\"},\n}\n",
    ),
    (
        "mix.lock",
        "x",
        "%{\n  \"x\": {:git, \"https://example.com/x.git\", \"1.2.3\", [tag: \"v2\"]},\n}\n",
    ),
    (
        "packages.lock.json",
        "X.Y",
        r#"{"dependencies": {"net9.0": {"X.Y": {"type": "Direct", "requested": "[1.0.0, )", "resolved": "1.2.3"}},
           "net10.0": {"Z": {"type": "Project", "dependencies": {"X.Y": "[2.0.0, )"}}, "W": {"resolved": "3.0.0"}}}}"#,
    ),
    (
        "deps/x/ebin/x.app",
        "x",
        "%% x\n{application, 'x', [\n\t{description, \"X\"},\n\t{vsn, \"1.2.3\"},\n\t{applications, [y]}\n]}.\n",
    ),
    ("x.app", "x", "{application,x,[{vsn,\"1.2.3\"}]}."),
    (
        "x.app",
        "x",
        "{application,y,[{a,{b}},{c,[{d}]}]}.\n{application,x,[{description,\"A. B\"},{e,{f}},{vsn,\"1.2.3\"}]}.",
    ),
];

#[test]
fn versions_are_found_in_all_known_lock_files() {
    for (file, package, text) in SAMPLES {
        assert_eq!(
            version(file, text, package, None).unwrap(),
            "1.2.3",
            "{file}"
        );
        // It is not a pattern itself.
        for other in ["y", ".", "", "(", "{artifact}"] {
            let error = version(file, text, other, None).unwrap_err();
            let is_expected = match file {
                "pom.xml" => matches!(error, LockedError::NoGroup { .. }),
                _ => matches!(error, LockedError::Missing { .. }),
            };
            assert!(is_expected, "{file} {other}: {error}");
        }
    }
}

#[test]
fn what_overrides_a_version_is_not_overlooked() {
    let cases = [
        (
            "Cargo.lock",
            "name = \"x\"\nversion = \"1.0.0\"\n[[package]]\nname = \"x\"\nversion = \"2.0.0\"\n",
            "x",
        ),
        (
            "packages.lock.json",
            r#"{"net9.0": {"x": {"resolved": "1.0.0"}}, "net10.0": {"x": {"resolved": "2.0.0"}}}"#,
            "x",
        ),
        ("VERSIONS", "x 1.0.0\nx 2.0.0\ny 3.0.0\n", "x"),
    ];
    for (file, text, package) in cases {
        let own = (file == "VERSIONS").then_some(r"x (\S+)");
        let error = version(file, text, package, own).unwrap_err();
        let expected = format!("{file} has several versions of `x`: 1.0.0 and 2.0.0");
        assert_eq!(error.to_string(), expected);
        let found = version(file, text, package, Some(r"(2\.[\d.]+)")).unwrap();
        assert_eq!(found, "2.0.0");
    }
}

#[test]
fn what_is_no_version_is_refused() {
    let cases = [
        (
            "requirements.txt",
            "x>=0.20\n",
            "x",
            None,
            "requirements.txt has no version of `x`",
        ),
        (
            "VERSION",
            "1.0",
            "x",
            None,
            "`VERSION` is not a known lock file",
        ),
        (
            "VERSION",
            "x",
            "x",
            Some("x(.*)"),
            "VERSION has `` for `x`, which is not a version",
        ),
        (
            "VERSION",
            "x",
            "x",
            Some("x|(y)"),
            "VERSION has no version of `x`",
        ),
        ("VERSION", "x", "x", Some("x"), "the pattern has no group"),
        (
            "VERSION",
            "x",
            "x",
            Some("(x)(x)"),
            "the pattern has 2 groups",
        ),
        (
            "go.mod",
            "x",
            "x",
            Some("(x"),
            "the pattern is not a regular expression: unclosed group",
        ),
        (
            "go.mod",
            "a\0",
            "x",
            None,
            "reading go.mod: it contains NUL bytes",
        ),
    ];
    for (file, text, package, pattern, expected) in cases {
        let error = version(file, text, package, pattern)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let pom =
        |open| format!("<groupId>a</groupId><artifactId>x</artifactId><version>{open}</version>");
    for open in ["${x}", "1.${x}", "[1.0,2.0)", "1,2", "LATEST", ""] {
        let error = version("pom.xml", &pom(open), "a:x", None).unwrap_err();
        let expected = format!("pom.xml has `{open}` for `a:x`, which is not a version");
        assert_eq!(error.to_string(), expected);
    }
    let error = version("pom.xml", &pom("1"), "x", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`x` is not a package of pom.xml: write `group:artifact`"
    );
    for (file, text, pattern, found) in [
        ("requirements.txt", "x==1.*\n", None, "1.*"),
        ("VERSION", "x 1.0 beta\n", Some("x (.*)"), "1.0 beta"),
        ("VERSION", "x 1.*\nx 1.0\n", Some("x (.*)"), "1.*"),
        (
            "go.mod",
            "require (\n\tx v1.0.0\n)\nreplace x => y v2.0.0\n",
            None,
            "=> y v2.0.0",
        ),
        (
            "go.mod",
            "require x v1.0.0\nreplace (\n\tx v1.0.0 => ../x2\n)\n",
            None,
            "=> ../x2",
        ),
    ] {
        let error = version(file, text, "x", pattern).unwrap_err();
        let expected = format!("{file} has `{found}` for `x`, which is not a version");
        assert_eq!(error.to_string(), expected);
    }
    // Nor does it take the version of the next application.
    let text = "{application,x,[{a,{b}}]}.\n{application,y,[{vsn,\"1\"}]}.";
    let error = version("x.app", text, "x", None).unwrap_err();
    assert_eq!(error.to_string(), "x.app has no version of `x`");
}
