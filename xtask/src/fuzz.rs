//! Fuzzing of the parsers with libFuzzer, on the stable toolchain: the compiler's own passes count the branches that an
//! input takes, so that no nightly and no tool but cargo is needed. libFuzzer itself is built by `libfuzzer-sys`,
//! with a C++ compiler.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::project::{cargo, root};
use crate::steps::Steps;

/// The targets of `fuzz/`.
const TARGETS: [&str; 5] = ["head", "chunked", "answer", "http2", "import"];

/// What makes the compiler tell libFuzzer which branches and comparisons an input led to
/// (<https://clang.llvm.org/docs/SanitizerCoverage.html>).
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Clink-dead-code",
];

/// Words that inputs are made of.
const DICTIONARY: &str = "-dict=fuzz/http.dict";

/// Seconds after which one input counts as an endless loop, and the most memory.
const LONGEST: &str = "-timeout=20";
const LARGEST: &str = "-rss_limit_mb=1024";

/// Builds the targets and runs each for so many seconds; with `keep`, the inputs that led to new branches are added to
/// the kept ones, as few as will do.
pub(crate) fn fuzz(steps: &Steps, seconds: u32, keep: bool) {
    let mut built = None;
    steps.check("fuzz: build", || {
        find_cxx()?;
        let host = host()?;
        build(&host)?;
        built = Some(host);
        Ok(())
    });
    // Programs of an earlier build would tell of an earlier parser.
    let Some(host) = built else {
        return;
    };
    for name in TARGETS {
        let target = Target::new(name, &host);
        steps.check(&format!("fuzz {name} for {seconds} s"), || {
            target.run(seconds)
        });
        if keep {
            steps.check(&format!("fuzz: keep the inputs of {name}"), || {
                target.keep()
            });
        }
    }
}

/// Looks for the C++ compiler that libFuzzer is built with, by the names that the crate `cc` goes by.
fn find_cxx() -> Result<(), String> {
    let named = std::env::var("CXX").ok().filter(|name| !name.is_empty());
    let name = named.as_deref().unwrap_or("c++");
    // It may be a command with arguments.
    let mut words = name.split_whitespace();
    let asked = Command::new(words.next().unwrap_or("c++"))
        .args(words)
        .arg("--version")
        .output();
    match asked {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "`{name} --version`: {}; {CXX_ADVICE}",
            output.status
        )),
        Err(error) => Err(format!("`{name} --version`: {error}; {CXX_ADVICE}")),
    }
}

const CXX_ADVICE: &str = "fuzzing needs a C++ compiler, for libFuzzer: install one (Debian: apt-get install g++), or \
    name it in the variable CXX";

fn build(host: &str) -> Result<(), String> {
    let manifest = "fuzz/Cargo.toml";
    // With --target the flags are not those of build scripts and procedural macros, which have no libFuzzer.
    let status = cargo(&["build", "--quiet", "--manifest-path", manifest])
        .args(["--target", host, "--target-dir"])
        .arg(folder())
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "cargo build --manifest-path {manifest}: {status}; nothing is fuzzed with what was built before"
        )),
        Err(error) => Err(format!("cargo build --manifest-path {manifest}: {error}")),
    }
}

/// The name of the platform that this toolchain builds for.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc -vV: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| format!("rustc -vV names no host: {text:?}"))
}

/// Where it is built, and where inputs are found.
fn folder() -> PathBuf {
    root().join("target/fuzz")
}

/// A program that fuzzes one parser.
struct Target {
    name: &'static str,
    program: PathBuf,
    /// Where inputs with new branches are put.
    found: PathBuf,
    /// Those that are part of the project.
    kept: PathBuf,
    /// Where an input is put for which a law does not hold.
    artifacts: PathBuf,
}

impl Target {
    fn new(name: &'static str, host: &str) -> Self {
        Self {
            name,
            program: folder().join(host).join("debug").join(name),
            found: folder().join("corpus").join(name),
            kept: root().join("fuzz/corpus").join(name),
            artifacts: folder().join("artifacts").join(name),
        }
    }

    fn run(&self, seconds: u32) -> Result<(), String> {
        for folder in [&self.found, &self.artifacts, &self.kept] {
            make(folder)?;
        }
        let mut command = Command::new(&self.program);
        command
            .args([&self.found, &self.kept])
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", self.artifacts.display()))
            .args(["-print_final_stats=1", DICTIONARY, LONGEST, LARGEST]);
        self.status(command).map_err(|problem| {
            format!(
                "{problem}; the input is in {}: run {} with it alone to see the panic again, and give what is mended a \
                 test beside the parser",
                self.artifacts.display(),
                self.program.display()
            )
        })
    }

    /// Merges what was found into what is kept.
    fn keep(&self) -> Result<(), String> {
        let fewer = folder().join("fewer").join(self.name);
        // What an earlier call left behind would be kept too.
        if fewer.exists() {
            fs::remove_dir_all(&fewer).map_err(|error| format!("delete {fewer:?}: {error}"))?;
        }
        make(&fewer)?;
        let mut command = Command::new(&self.program);
        command
            // The fewest inputs that take every branch, however often.
            .args(["-set_cover_merge=1", "-use_counters=0", LONGEST, LARGEST])
            .args([&fewer, &self.kept, &self.found]);
        self.status(command)?;
        fs::remove_dir_all(&self.kept)
            .and_then(|()| fs::rename(&fewer, &self.kept))
            .map_err(|error| format!("move {fewer:?} to {:?}: {error}", self.kept))
    }

    fn status(&self, mut command: Command) -> Result<(), String> {
        match command.current_dir(root()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{}: {status}", self.name)),
            Err(error) => Err(format!(
                "{}: {error}; was it built?",
                self.program.display()
            )),
        }
    }
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("create {folder:?}: {error}"))
}
