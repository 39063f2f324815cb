//! Short real sessions, and what their files must say. No timing is judged.

use std::{fs, path::Path, thread};

use serde_json::Value;

use crate::{
    conformance::Runnable,
    project::{deadheat_with_quick_builds, root},
    steps::{Queue, Steps, WhenFailed},
};

/// The workloads whose sessions begin first, because they take longest: the first waits for the upstream for minutes, and
/// works for seconds.
const LONGEST: [&str; 6] = ["proxy", "api", "upload", "users", "ping-pong", "json"];

/// A pack, which has a session of its own.
const PACK: &str = "techempower";
/// The stack of its session, which has seven loads of 256 connections: the one that answers them soonest, of those whose
/// compiler optimises here.
const STACK_OF_PACK: &str = "go-nethttp";

/// The workload of each session: every workload of the project that is not of a pack. Each stack is in one session, so that
/// every stack and every workload is measured, but not each with each: conformance has asked every stack for all of them.
fn workloads() -> Result<Vec<String>, String> {
    let folder = root().join("workloads");
    let failed = |error: std::io::Error| format!("listing {}: {error}", folder.display());
    let mut ids = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(failed)?;
        if !text.contains("\npack = ") {
            let stem = path.file_stem().unwrap_or_default();
            ids.push(stem.to_string_lossy().into_owned());
        }
    }
    let turn = |id: &String| LONGEST.iter().position(|one| one == id);
    ids.sort_by_key(|id| (turn(id).unwrap_or(LONGEST.len()), id.clone()));
    Ok(ids)
}

/// The options of a session that is as short as it can be: two heats, so that there is a null server in one and a twin in
/// the other. Slices are twenty times as long as an answer takes. Without a warm-up, that is how long the first answer of a
/// cold server takes, and slices last up to ten seconds.
const SHORT: [&str; 9] = [
    "--heats",
    "2",
    "--whole-budget",
    "--heat-time",
    "500ms",
    "--warm-up",
    "1s",
    // A virtual machine takes seconds of CPU time to its first answer, and shares two CPUs with all other steps.
    "--start-timeout",
    "300s",
];

/// The workload whose session has equal work.
const WITH_EQUAL_WORK: &str = "json";

/// Sessions at a time, next to the first: each waits for its servers, or for the load of a heat.
const AT_A_TIME: usize = 4;

/// Runs the sessions over stacks that can run here.
pub(crate) fn short_sessions(steps: &Steps, stacks: &[Runnable]) {
    let results = root().join("target/xtask-sessions");
    // Whatever an earlier run left is not this one's.
    let _ = fs::remove_dir_all(&results);
    let workloads = match workloads() {
        Ok(workloads) => workloads,
        Err(error) => {
            steps.check("short sessions", || Err(error));
            return;
        }
    };
    let dealt = deal(stacks, &workloads);
    let of_pack = || {
        let names = stacks.iter().map(|one| one.stack.as_str());
        let names: Vec<&str> = names.filter(|name| *name == STACK_OF_PACK).collect();
        session(steps, &names, ["--pack", PACK], &results.join(PACK));
    };
    let run = |index: usize| {
        let of_session = dealt.iter().filter(|(_, session)| *session == index);
        let names: Vec<&str> = of_session.map(|(stack, _)| *stack).collect();
        let workload = &workloads[index];
        session(
            steps,
            &names,
            ["--workload", workload],
            &results.join(workload),
        );
    };
    let left = Queue::new(0..workloads.len());
    thread::scope(|scope| {
        scope.spawn(|| run(0));
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                left.work(|index| match index {
                    // The first has a thread of its own.
                    0 => of_pack(),
                    _ => run(index),
                });
            });
        }
    });
}

/// Gives each stack the index of its session: in turn, but one in which it answers something.
fn deal<'a>(stacks: &'a [Runnable], workloads: &[String]) -> Vec<(&'a str, usize)> {
    let of = |(index, one): (usize, &'_ Runnable)| {
        let answers = |session: &usize| one.workloads.contains(&workloads[*session]);
        let mut turns = (0..workloads.len()).map(|turn| (index + turn) % workloads.len());
        turns.find(answers).unwrap_or(index % workloads.len())
    };
    let dealt = stacks.iter().enumerate();
    dealt
        .map(|(index, one)| (one.stack.as_str(), of((index, one))))
        .collect()
}

/// `selected` is an option that selects workloads, with its value.
fn session(steps: &Steps, stacks: &[&str], selected: [&str; 2], results: &Path) {
    let name = format!("short session of {}", selected[1]);
    if stacks.is_empty() {
        steps.check(&name, || Err("no stack can run here".to_owned()));
        return;
    }
    let mut command = deadheat_with_quick_builds(&["run", "--seed", "1", "--results"]);
    command.arg(results).args(SHORT);
    for stack in stacks {
        command.args(["--stack", stack]);
    }
    command.args(selected);
    if selected[1] != WITH_EQUAL_WORK {
        // It takes six seconds of each stack.
        command.args(["--rate", "none"]);
    }
    steps.run_with(&name, command, WhenFailed::Fails, |_| {
        records(results, stacks)
    });
}

/// The reports are there, and the records have all that was planned.
fn records(results: &Path, stacks: &[&str]) -> Result<(), String> {
    let failed =
        |what: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", what.display());
    let mut sessions = fs::read_dir(results).map_err(|error| failed(results, &error))?;
    let session = sessions.next().ok_or("no session was recorded")?;
    let session = session.map_err(|error| failed(results, &error))?.path();
    for name in ["report.html", "report.md", "report.json", "report.csv"] {
        let path = session.join(name);
        let length = fs::metadata(&path)
            .map_err(|error| failed(&path, &error))?
            .len();
        if length == 0 {
            return Err(format!("{} is empty", path.display()));
        }
    }
    let read = |name: &str| {
        fs::read_to_string(session.join(name)).map_err(|error| failed(&session, &error))
    };
    let header = parse(&read("session.json")?)?;
    heats(&header, &lines(&read("heats.jsonl")?)?, stacks)
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn lines(text: &str) -> Result<Vec<Value>, String> {
    text.lines().map(parse).collect()
}

/// Whether `target` is a variant of `stack`.
fn is_of(target: &Value, stack: &str) -> bool {
    let target = target.as_str().unwrap_or_default();
    target.split(':').next() == Some(stack)
}

/// Every stack was planned for a load, and each heat of it had every one of its stacks, without a failure.
fn heats(header: &Value, journal: &[Value], stacks: &[&str]) -> Result<(), String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let loads = list(&header["plan"]["loads"]);
    let planned: Vec<Value> = loads
        .iter()
        .flat_map(|load| list(&load["targets"]))
        .collect();
    for stack in stacks {
        if !planned.iter().any(|target| is_of(target, stack)) {
            let targets = list(&header["targets"]);
            let own = targets.iter().find(|one| is_of(&one["target"], stack));
            let own = own.unwrap_or(&Value::Null);
            let of_workload = &own["failed_workloads"][0]["failure"]["reason"];
            let reason = own["state"]["reason"].as_str().or(of_workload.as_str());
            let reason = reason.unwrap_or("it answers nothing of that workload");
            return Err(format!("{stack} was not measured: {reason}"));
        }
    }
    let recorded = journal.iter().filter(|one| one["record"] == "heat");
    // A heat that other programs disturb is measured once more, together with its equal work.
    let disturbed = recorded
        .clone()
        .filter(|one| one["heat"]["end"] == "disturbed");
    let disturbed: Vec<&Value> = disturbed.map(|one| &one["heat"]["heat"]).collect();
    let counts = |one: &&Value| !disturbed.contains(&&one["heat"]["heat"]);
    let measured: Vec<&Value> = recorded.filter(counts).collect();
    if measured.len() != 2 * loads.len() {
        let (found, loads) = (measured.len(), loads.len());
        return Err(format!(
            "{found} heats were recorded of two at each of {loads} loads"
        ));
    }
    let mut answered: Vec<Value> = Vec::new();
    for entry in measured {
        let heat = &entry["heat"];
        let members = list(&heat["members"]);
        let load = entry["load"].as_u64().unwrap_or(u64::MAX) as usize;
        let wanted = loads.get(load).map(|load| list(&load["targets"]).len());
        // Beside the stacks there is a control.
        if wanted.map(|stacks| stacks + 1) != Some(members.len()) {
            return Err(format!(
                "a heat of load {load} had {} members",
                members.len()
            ));
        }
        let rounds = list(&heat["rounds"]);
        let slices: Vec<Value> = rounds.iter().flat_map(list).collect();
        for (place, member) in members.iter().enumerate() {
            if !member["failure"].is_null() || member["verified_after"].is_null() {
                return Err(format!("{}: {}", member["target"], member["failure"]));
            }
            let answers = |slice: &Value| slice["tally"]["succeeded"].as_u64().unwrap_or(0);
            let own = slices
                .iter()
                .filter(|slice| slice["member"] == place as u64);
            if own.map(answers).sum::<u64>() > 0 {
                answered.push(member["target"].clone());
            }
        }
    }
    // A slice is short: on a busy machine all answers of one may come in its drain.
    match planned.iter().find(|target| !answered.contains(target)) {
        Some(target) => Err(format!("{target} answered in no slice of any heat")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_of_heats_lack_nothing_and_nobody() {
        let header = json!({ "plan": { "loads": [{ "targets": ["a:x", "b"] }] } });
        let member = |target: &str| json!({ "target": target, "verified_after": 3 });
        let slice = |member: u64, answers: u64| json!({ "member": member, "tally": { "succeeded": answers } });
        let heat = |of_b: u64| {
            json!({ "record": "heat", "load": 0, "heat": {
                "heat": of_b, "end": "finished",
                "members": [member("a:x"), member("b"), member("~null-server")],
                "rounds": [[slice(0, 5), slice(1, of_b), slice(2, 9)]],
            }})
        };
        let both = ["a", "b"];
        let good = [heat(0), heat(4), json!({ "record": "end" })];
        assert_eq!(heats(&header, &good, &both), Ok(()));
        let told =
            |journal: &[Value], stacks: &[&str]| heats(&header, journal, stacks).unwrap_err();
        let with_c = ["a", "c"];
        assert!(told(&good, &with_c).contains("c was not measured: it answers nothing"));
        let mut failed = header.clone();
        failed["targets"] = json!([
            { "target": "a:x", "state": { "is": "ready" } },
            { "target": "c:y", "state": { "is": "failed", "reason": "no answer within 60 s" } },
        ]);
        let told_why = |header: &Value| heats(header, &good, &with_c).unwrap_err();
        assert_eq!(
            told_why(&failed),
            "c was not measured: no answer within 60 s"
        );
        failed["targets"][1] = json!({ "target": "c:y", "state": { "is": "ready" },
            "failed_workloads": [{ "failure": { "reason": "a wrong answer" } }] });
        assert_eq!(told_why(&failed), "c was not measured: a wrong answer");
        assert!(told(&good[1..], &both).contains("1 heats were recorded"));
        let mut disturbed = heat(9);
        disturbed["heat"]["end"] = json!("disturbed");
        assert_eq!(
            heats(&header, &[good.as_slice(), &[disturbed]].concat(), &both),
            Ok(())
        );
        assert!(told(&[heat(0), heat(0)], &both).contains("answered in no slice"));
        let mut failed = good.clone();
        failed[1]["heat"]["members"][0]["failure"] = json!({ "reason": "it died" });
        assert!(told(&failed, &both).contains("it died"));
        let mut alone = good.clone();
        alone[0]["heat"]["members"].as_array_mut().unwrap().pop();
        assert!(told(&alone, &both).contains("had 2 members"));
    }

    #[test]
    fn every_workload_has_a_session_and_the_longest_begin() {
        let workloads = workloads().unwrap();
        assert_eq!(workloads[..LONGEST.len()], LONGEST);
        assert!(workloads.len() > 10 && workloads.contains(&WITH_EQUAL_WORK.to_owned()));
    }

    #[test]
    fn a_stack_with_few_workloads_is_dealt_to_a_session_that_has_one_of_them() {
        let runnable = |stack: &str, workloads: &[&str]| Runnable {
            stack: stack.to_owned(),
            workloads: workloads.iter().map(|id| (*id).to_owned()).collect(),
        };
        let all = [
            "plaintext",
            "users",
            "payload",
            "json-decode",
            "hash",
            "proxy",
        ];
        let stacks = [
            runnable("a", &all),
            runnable("b", &all),
            runnable("nginx", &["plaintext"]),
            runnable("z", &all),
        ];
        let workloads = ["proxy", "users", "payload", "plaintext"].map(str::to_owned);
        let dealt = deal(&stacks, &workloads);
        let dealt: Vec<_> = dealt
            .iter()
            .map(|(stack, session)| (*stack, workloads[*session].as_str()))
            .collect();
        assert_eq!(
            dealt,
            [
                ("a", "proxy"),
                ("b", "users"),
                ("nginx", "plaintext"),
                ("z", "plaintext"),
            ]
        );
    }
}
