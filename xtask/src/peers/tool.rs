//! The tools that are compared: where they are, which version, and how each is asked to do the same.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use clap::ValueEnum;

use super::load::Load;

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Tool {
    Deadheat,
    /// Another build of deadheat (--other)
    Other,
    Wrk,
    Ab,
    Hey,
    H2load,
    Oha,
    Shb,
    /// The floor: system calls alone
    Bare,
}

/// Where a request goes and for how long.
pub(crate) struct Errand<'a> {
    /// What is to be done.
    pub(crate) load: Load,
    /// The URL.
    pub(crate) url: &'a str,
    /// How long, in seconds: ab and wrk take whole ones alone.
    pub(crate) seconds: u32,
    /// The script by which wrk pipelines.
    pub(crate) wrk_script: &'a Path,
}

/// ab stops at this many requests, or when its time is up: more than it can do in any trial. It reserves room for all of
/// them, but memory counts only once it is touched.
const AB_REQUESTS: &str = "10000000";

impl Tool {
    /// Its program's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Deadheat => "deadheat",
            Tool::Other => "deadheat, other",
            Tool::Wrk => "wrk",
            Tool::Ab => "ab",
            Tool::Hey => "hey",
            Tool::H2load => "h2load",
            Tool::Oha => "oha",
            Tool::Shb => "shb",
            Tool::Bare => "bare loop",
        }
    }

    /// Why it cannot do a load; `None`: it can.
    pub(crate) fn cannot(self, load: &Load) -> Option<&'static str> {
        let pipelines = load.depth > 1 && !load.http2;
        let paced = load.rate.is_some();
        match self {
            Tool::Wrk | Tool::Ab if load.http2 => Some("it does not speak HTTP/2"),
            Tool::Hey if load.http2 => Some("it has no number of streams"),
            Tool::Wrk if paced => Some("it has no rate"),
            Tool::Ab if pipelines => Some("it does not pipeline"),
            Tool::Ab if paced => Some("it has no rate"),
            Tool::Hey | Tool::Oha if pipelines => Some("it does not pipeline"),
            Tool::H2load if !load.keep_alive => {
                Some("it never ends when the server closes each connection")
            }
            Tool::Shb if pipelines => Some("it does not pipeline HTTP/1.1"),
            Tool::Shb if paced => Some("it has no rate"),
            Tool::Bare if pipelines || !load.keep_alive || load.tls => {
                Some("it supports only plain keep-alive requests")
            }
            _ => None,
        }
    }

    /// Its arguments: one thread, the connections of the load, and as long as the errand says.
    pub(crate) fn arguments(self, errand: &Errand<'_>) -> Vec<String> {
        let load = &errand.load;
        let connections = load.connections.to_string();
        let mut list = Words::default();
        match self {
            Tool::Deadheat | Tool::Other => {
                list.add(&["load", "--json", "--progress", "off", "--warm-up", "0s"]);
                list.add(&["--duration", &format!("{}s", errand.seconds)]);
                list.add(&["--connections", &connections, "--expect-status", "200"]);
                list.add(&["--expect-length", &load.resource.bytes().to_string()]);
                list.add_if(!load.keep_alive, &["--no-keepalive"]);
                let depth = load.depth.to_string();
                match (load.http2, load.tls) {
                    (false, _) => list.add_if(load.depth > 1, &["--pipeline", &depth]),
                    (true, false) => list.add(&["--http2-prior-knowledge", "--streams", &depth]),
                    (true, true) => list.add(&["--http2", "--streams", &depth]),
                }
                list.add_if(load.tls, &["--insecure"]);
                if let Some(rate) = load.rate {
                    list.add(&["--rate", &format!("{rate}/s")]);
                }
            }
            Tool::Wrk => {
                list.add(&["-t1", "-c", &connections]);
                list.add(&["-d", &format!("{}s", errand.seconds)]);
                // Its own 2 s would count slow answers at 10,000 connections as failures; the others wait longer.
                list.add(&["--timeout", "30s"]);
                list.add_if(!load.keep_alive, &["-H", "Connection: close"]);
                list.add_if(
                    load.depth > 1,
                    &["-s", &errand.wrk_script.display().to_string()],
                );
            }
            Tool::Ab => {
                list.add(&["-q", "-c", &connections]);
                // The time sets the number of requests to 50,000, so the number comes after it.
                list.add(&["-t", &errand.seconds.to_string(), "-n", AB_REQUESTS]);
                list.add_if(load.keep_alive, &["-k"]);
                list.add_if(load.tls, &["-f", "TLS1.3"]);
            }
            Tool::Hey => {
                list.add(&["-cpus", "1", "-c", &connections]);
                list.add(&["-z", &format!("{}s", errand.seconds)]);
                list.add_if(!load.keep_alive, &["-disable-keepalive"]);
                if let Some(rate) = load.rate {
                    list.add(&["-q", &(rate / load.connections).to_string()]);
                }
            }
            Tool::H2load => {
                list.add_if(!load.http2, &["--h1"]);
                list.add(&["-t1", "-c", &connections]);
                list.add(&["-D", &format!("{}s", errand.seconds)]);
                list.add_if(load.depth > 1, &["-m", &load.depth.to_string()]);
                if let Some(rate) = load.rate {
                    list.add(&["--rps", &(rate / load.connections).to_string()]);
                }
            }
            Tool::Oha => {
                list.add(&["--no-tui", "--output-format", "json"]);
                list.add(&["--worker-threads", "1", "-c", &connections]);
                list.add(&["-z", &format!("{}s", errand.seconds)]);
                list.add_if(!load.keep_alive, &["--disable-keepalive"]);
                list.add_if(load.http2, &["--http2", "-p", &load.depth.to_string()]);
                list.add_if(load.tls, &["--insecure"]);
                if let Some(rate) = load.rate {
                    list.add(&["-q", &rate.to_string(), "--latency-correction"]);
                }
            }
            Tool::Shb => {
                list.add(&["--json", "-t", "1", "-c", &connections]);
                list.add(&["-z", &format!("{}s", errand.seconds)]);
                list.add_if(!load.keep_alive, &["--disable-keepalive"]);
                list.add_if(load.http2, &["--http2", "-p", &load.depth.to_string()]);
            }
            Tool::Bare => {
                let (_, rest) = errand.url.split_once("//").unwrap_or_default();
                let (address, _) = rest.split_once('/').unwrap_or_default();
                list.add(&["bare", "--address", address]);
                list.add(&["--path", load.resource.path()]);
                list.add(&["--body", &load.resource.bytes().to_string()]);
                list.add(&["--connections", &connections]);
                list.add(&["--seconds", &errand.seconds.to_string()]);
                list.add_if(load.http2, &["--streams", &load.depth.to_string()]);
                if let Some(rate) = load.rate {
                    list.add(&["--rate", &rate.to_string()]);
                }
            }
        }
        if self != Tool::Bare {
            list.add(&[errand.url]);
        }
        list.0
    }

    /// What it says of its version.
    pub(crate) fn version(self, program: &Path) -> String {
        let asked = match self {
            Tool::Wrk => "-v",
            Tool::Ab => "-V",
            Tool::Deadheat | Tool::Other | Tool::H2load | Tool::Oha => "--version",
            // They have no option for it.
            Tool::Hey | Tool::Shb => return packaged_version(self).unwrap_or_default(),
            Tool::Bare => return env!("CARGO_PKG_VERSION").to_owned(),
        };
        let mut command = Command::new(program);
        let output = command.arg(asked).env("LC_ALL", "C").output();
        let text = output.map(|output| {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            text
        });
        version_in(&text.unwrap_or_default())
    }
}

/// A list of arguments in the making.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn add_if(&mut self, condition: bool, words: &[&str]) {
        if condition {
            self.add(words);
        }
    }
}

/// The first word of a text that holds a digit and a dot, without punctuation around it: `4.1.0-3+b2` of
/// `wrk debian/4.1.0-3+b2 [epoll]`.
pub(crate) fn version_in(text: &str) -> String {
    let numbered =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    text.split(|c: char| c.is_whitespace() || c == '/' || c == ',')
        .find(numbered)
        .unwrap_or_default()
        .to_owned()
}

/// The version that a package manager knows: Debian's for what came from there, cargo's for what it installed.
fn packaged_version(tool: Tool) -> Option<String> {
    let name = tool.name();
    let debian = Command::new("dpkg-query")
        .args(["--show", "--showformat=${Version}", name])
        .output();
    if let Some(output) = debian.ok().filter(|output| output.status.success()) {
        return Some(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // `cargo install` keeps its list beside the folder of programs.
    let list = find(name)?.parent()?.parent()?.join(".crates.toml");
    let list = fs::read_to_string(list).ok()?;
    let entry = list.split('"').find(|part| {
        part.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(' '))
    })?;
    Some(version_in(entry))
}

/// The program of that name on `PATH`, in the folders for the administrator's programs (nginx), or where cargo
/// installs.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let cargo = cargo_home.or(home).map(|home| home.join("bin"));
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders = env::split_paths(&path).chain(cargo).chain(system);
    let mut candidates = folders.map(|folder| folder.join(name));
    candidates.find(|file| {
        fs::metadata(file)
            .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::case::Case;

    const PEERS: [Tool; 6] = [
        Tool::Wrk,
        Tool::Ab,
        Tool::Hey,
        Tool::H2load,
        Tool::Oha,
        Tool::Shb,
    ];

    fn arguments(tool: Tool, case: Case) -> String {
        let errand = Errand {
            load: case.load(),
            url: "http://127.0.0.1:1/small",
            seconds: 3,
            wrk_script: Path::new("/folder/pipeline.lua"),
        };
        format!(" {} ", tool.arguments(&errand).join(" "))
    }

    #[test]
    fn versions_are_found_in_what_the_tools_say() {
        for (text, version) in [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C)", "4.1.0-3+b2"),
            ("This is ApacheBench, Version 2.3 <$Revision$>", "2.3"),
            ("h2load nghttp2/1.52.0\n", "1.52.0"),
            ("oha 1.16.0", "1.16.0"),
            ("nginx version: nginx/1.22.1", "1.22.1"),
            ("nothing here", ""),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }

    #[test]
    fn every_tool_gets_the_connections_and_the_time_of_the_case() {
        for tool in PEERS.into_iter().chain([Tool::Deadheat, Tool::Other]) {
            let shown = arguments(tool, Case::Small);
            assert!(shown.contains(" 50 "), "{shown}");
            assert!(
                shown.contains(" 3s ") || shown.contains(" -t 3 "),
                "{shown}"
            );
            assert!(shown.ends_with(" http://127.0.0.1:1/small "), "{shown}");
        }
    }

    #[test]
    fn what_a_case_asks_for_reaches_each_tool_that_can_do_it() {
        for (case, tool, words) in [
            (Case::Small, Tool::Ab, " -t 3 -n 10000000 -k "),
            (Case::Connect, Tool::Wrk, " -H Connection: close "),
            (Case::Connect, Tool::Hey, " -disable-keepalive "),
            (Case::Connect, Tool::Oha, " --disable-keepalive "),
            (Case::Connect, Tool::Shb, " --disable-keepalive "),
            (Case::Connect, Tool::Deadheat, " --no-keepalive "),
            (Case::Pipeline, Tool::Wrk, " -s /folder/pipeline.lua "),
            (Case::Pipeline, Tool::H2load, " -m 16 "),
            (Case::Pipeline, Tool::Deadheat, " --pipeline 16 "),
            (Case::Tls, Tool::Ab, " -f TLS1.3 "),
            (Case::Tls, Tool::Oha, " --insecure "),
            (Case::Open, Tool::Hey, " -q 200 "),
            (Case::Open, Tool::H2load, " --rps 200 "),
            (Case::Open, Tool::Oha, " -q 20000 --latency-correction "),
            (Case::Open, Tool::Deadheat, " --rate 20000/s "),
            (Case::Payload, Tool::Deadheat, " --expect-length 1048576 "),
            (
                Case::H2cStreams,
                Tool::Deadheat,
                " --http2-prior-knowledge --streams 32 ",
            ),
            (
                Case::H2Tls,
                Tool::Deadheat,
                " --http2 --streams 32 --insecure ",
            ),
            (Case::H2cStreams, Tool::H2load, " -t1 -c 10 -D 3s -m 32 "),
            (Case::H2c, Tool::Oha, " --http2 -p 1 "),
            (Case::H2c, Tool::Shb, " --http2 -p 1 "),
            (
                Case::H2cPage,
                Tool::Bare,
                " --body 65536 --connections 10 --seconds 3 --streams 32 ",
            ),
        ] {
            assert_eq!(tool.cannot(&case.load()), None);
            let shown = arguments(tool, case);
            assert!(shown.contains(words), "{shown}");
        }
        assert!(!arguments(Tool::Ab, Case::Connect).contains(" -k "));
        assert!(!arguments(Tool::H2load, Case::H2c).contains(" --h1 "));
    }

    #[test]
    fn each_target_is_about_a_tool_that_can_do_the_case() {
        use crate::peers::case::Target;
        for case in Case::value_variants() {
            assert_eq!(Tool::Deadheat.cannot(&case.load()), None);
            for target in case.targets() {
                if let Target::Ratio { peer, most, .. } = target {
                    assert_eq!(peer.cannot(&case.load()), None, "{case:?}");
                    assert!(PEERS.contains(peer) && *most <= 1.0);
                }
            }
        }
    }
}
