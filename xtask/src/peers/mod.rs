//! The benchmark against the other load generators: CPU time per answered request and peak memory, in the same load on
//! the same nginx. docs/peers.md says how, and holds what was found. A person runs it; it judges nothing in a test.

mod answers;
pub(crate) mod bare;
mod blocks;
mod case;
pub(crate) mod circumstances;
mod cpu_time;
mod deadheat;
mod document;
mod figures;
mod load;
pub(crate) mod machine;
mod nginx;
pub(crate) mod show;
mod table;
mod tool;
mod trial;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, ValueEnum};

use self::{
    blocks::{Measured, Measuring},
    case::Case,
    circumstances::Circumstances,
    machine::Cpus,
    table::Facts,
    tool::{Tool, find},
    trial::{Bench, Program},
};
use crate::{
    project::root,
    steps::{Lack, Steps},
    sys,
};

/// What `cargo xtask peers` takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Measure this case alone, repeatable [default: all]
    #[arg(long, value_enum)]
    case: Vec<Case>,
    /// Measure these tools alone, repeatable [default: all that are installed]
    #[arg(long, value_enum)]
    tool: Vec<Tool>,
    /// Blocks; each has every tool once, in a random order
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    blocks: u32,
    /// Length of a trial in seconds (ab and wrk take whole ones alone)
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// What the order of the tools follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The deadheat to measure [default: a release build, made now]
    #[arg(long, value_name = "PATH")]
    deadheat: Option<PathBuf>,
    /// Another build of deadheat to measure beside it, such as a static one
    #[arg(long, value_name = "PATH")]
    other: Option<PathBuf>,
    /// Write the tables into docs/peers.md
    #[arg(long)]
    write: bool,
    /// Write every trial into a CSV file
    #[arg(long, value_name = "FILE")]
    trials: Option<PathBuf>,
}

/// Measures, shows and writes.
pub(crate) fn peers(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            show::progress(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The floor, as a tool that [`peers`] starts.
pub(crate) fn bare(options: &bare::Options) -> ExitCode {
    match bare::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            show::progress(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Checks that the benchmark still works, with a short block of the first case. It judges no figure.
pub(crate) fn smoke(steps: &Steps, binary: PathBuf) {
    let tools = ["nginx", "wrk", "ab"];
    let missing: Vec<&str> = tools
        .into_iter()
        .filter(|tool| find(tool).is_none())
        .collect();
    if !missing.is_empty() {
        let because = format!("{} not installed", missing.join(", "));
        steps.not_tested(Lack::new("peers", &because));
    }
    // What it loads, and what it needs at least to have something to compare.
    if missing.contains(&"nginx") {
        return;
    }
    let options = Options {
        case: vec![Case::Small],
        tool: vec![Tool::Deadheat, Tool::Wrk, Tool::Ab],
        blocks: 1,
        seconds: 1,
        seed: 1,
        deadheat: Some(binary),
        other: None,
        write: false,
        trials: None,
    };
    steps.check("the benchmark against other generators", || {
        let trials = measure(&options)?;
        let faults = trials
            .iter()
            .filter_map(|trial| trial.outcome.as_ref().err());
        match faults.cloned().collect::<Vec<_>>() {
            faults if faults.is_empty() => Ok(()),
            faults => Err(faults.join("; ")),
        }
    });
}

/// Measures the cases, one after the other, and shows each when it is done. All of their trials.
fn measure(options: &Options) -> Result<Vec<trial::Trial>, String> {
    let cpus = Cpus::choose()?;
    let server = find("nginx").ok_or("nginx is not on PATH: install it (Debian: nginx-light)")?;
    let descriptors = sys::raise_descriptor_limit()
        .map_err(|error| format!("raising the limit of file descriptors: {error}"))?;
    let folder = tempfile::Builder::new()
        .prefix("deadheat-peers-")
        .tempdir()
        .map_err(|error| format!("making a temporary folder: {error}"))?;
    let (programs, missing) = programs(options, folder.path())?;
    let (site, no_certificate) = nginx::Site::lay_out(folder.path())?;
    let wrk_script = folder.path().join("pipeline.lua");
    fs::write(&wrk_script, WRK_PIPELINE)
        .map_err(|error| format!("{}: {error}", wrk_script.display()))?;
    let bench = Bench {
        folder: folder.path(),
        cpus,
        wrk_script: &wrk_script,
    };
    let measuring = Measuring {
        options,
        bench: &bench,
        site: &site,
        server: &server,
        descriptors,
        interrupt: blocks::on_signals()?,
    };
    let circumstances = Circumstances::gather(options, &measuring)?;
    let mut all = Vec::new();
    for case in cases(options) {
        if let (Some(reason), true) = (&no_certificate, case.load().tls) {
            show::progress(&format!("{} is left out: {}", case.name(), reason.0));
            continue;
        }
        let (able, unable) = able(&programs, case);
        let Measured {
            trials,
            interrupted,
        } = measuring.case(case, &able)?;
        let left_out: Vec<String> = missing.iter().cloned().chain(unable).collect();
        let facts = Facts {
            case,
            tools: &able.iter().map(|program| program.tool).collect::<Vec<_>>(),
            left_out: &left_out,
            circumstances: &circumstances.of_case(case, options, &able),
        };
        let text = table::markdown(&facts, &trials);
        show::result(&format!("## {}: {}\n\n{text}", case.name(), case.title()));
        all.extend(trials);
        if let Some(path) = &options.trials {
            let csv = format!("{}{}", table::CSV_HEAD, table::csv(&all));
            fs::write(path, csv).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if interrupted {
            return Err(
                "interrupted: the last table has the blocks so far, and is not written".to_owned(),
            );
        }
        if options.write {
            write(&root().join("docs/peers.md"), case, &text)?;
        }
    }
    Ok(all)
}

/// The script by which wrk pipelines: it hands over sixteen requests as if they were one, and wrk counts each answer.
const WRK_PIPELINE: &str = "local batch
function init()
  batch = string.rep(wrk.format(), 16)
end
function request()
  return batch
end
";

fn cases(options: &Options) -> Vec<Case> {
    if options.case.is_empty() {
        Case::value_variants().to_vec()
    } else {
        options.case.clone()
    }
}

/// The tools that are here, and a sentence on each one that is not.
///
/// Two builds of deadheat are copied to `folder`: how many pages of its file a process has in memory depends on how the
/// file came into the page cache, by a quarter of the peak where this was seen.
fn programs(options: &Options, folder: &Path) -> Result<(Vec<Program>, Vec<String>), String> {
    let fresh = |path: PathBuf, name: &str| {
        if options.other.is_none() {
            return Ok(path);
        }
        let copy = folder.join(name);
        match fs::copy(&path, &copy) {
            Ok(_) => Ok(copy),
            Err(error) => Err(format!("copying {}: {error}", path.display())),
        }
    };
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for tool in Tool::value_variants() {
        if !options.tool.is_empty() && !options.tool.contains(tool) {
            continue;
        }
        let path = match tool {
            Tool::Deadheat => {
                let program = deadheat::program(options.deadheat.as_deref())?;
                Some(fresh(program, "deadheat")?)
            }
            Tool::Other => match options.other.clone() {
                // Nobody misses it.
                None => continue,
                Some(other) => Some(fresh(other, "other")?),
            },
            Tool::Bare => std::env::current_exe().ok(),
            _ => find(tool.name()),
        };
        match path {
            Some(path) => here.push(Program {
                tool: *tool,
                version: tool.version(&path),
                path,
            }),
            None => missing.push(format!("{}: it is not installed here.", tool.name())),
        }
    }
    for sentence in &missing {
        show::progress(sentence);
    }
    Ok((here, missing))
}

/// The tools that can do a case, and a sentence on each one that cannot.
fn able(programs: &[Program], case: Case) -> (Vec<Program>, Vec<String>) {
    let load = case.load();
    let (mut able, mut unable) = (Vec::new(), Vec::new());
    for program in programs {
        match program.tool.cannot(&load) {
            None => able.push(program.clone()),
            Some(why) => unable.push(format!("{}: left out, {why}.", program.tool.name())),
        }
    }
    (able, unable)
}

fn write(path: &Path, case: Case, text: &str) -> Result<(), String> {
    let failed = |error: String| format!("writing the table into {}: {error}", path.display());
    let document = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let document = document::replace(&document, case.name(), text).map_err(failed)?;
    fs::write(path, document).map_err(|error| failed(error.to_string()))
}
