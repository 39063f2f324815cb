//! Which stacks and workloads a user means.
//!
//! A name without a colon means its default: a stack's first variant, a workload's first load point. The part after a
//! colon selects one (`go-nethttp:2cpu`, `hash:rounds-500`), and `:*` selects all of them. Both parts may be globs. A
//! glob with a wildcard does not match stacks that are no longer maintained; their whole names do. A workload's name
//! alone does not select load points over TLS or HTTP/2; `json:*` and `json:h2c-*` do. The workloads of a pack are
//! selected by their whole names, as by [`pack`].

use std::collections::BTreeSet;

use deadheat_model::{LoadPoint, TargetId, WorkloadManifest, stack::StackRole};
use globset::{Glob, GlobMatcher};

use super::{
    Catalogue,
    error::{did_you_mean, either, enumerate, nearest_few},
};

/// Of more stacks than these, only those with a name like the one that was typed are shown.
const MAX_NAMES: usize = 12;

/// Workloads of a short session: one without input or output, one with a database, one that waits.
const DEFAULT_WORKLOADS: [&str; 3] = ["plaintext", "users", "proxy"];

/// How far names reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A name means its default, and no names mean the usual workloads.
    Defaults,
    /// A name means all of its variants, or all load points over HTTP/1 without TLS, and no names mean all workloads.
    All,
    /// A name means everything, and wildcards reach stacks that are no longer maintained.
    Everything,
}

/// What was selected.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Stacks under their variants, in the catalogue's order.
    pub targets: Vec<TargetId>,
    /// Workloads with their load points, in the catalogue's order.
    pub workloads: Vec<SelectedWorkload>,
}

/// A workload and those of its load points that were selected.
#[derive(Clone, Debug)]
pub struct SelectedWorkload {
    /// The workload.
    pub manifest: WorkloadManifest,
    /// At least one load point, in the manifest's order.
    pub points: Vec<LoadPoint>,
}

/// Names that select nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.join("\n"))]
pub struct SelectError {
    /// A sentence for each name: what it does not match, the nearest name, and what there is.
    pub problems: Vec<String>,
}

/// Selects stacks by `stack_globs` (all if it is empty) and workloads by `workload_names` (plaintext, users and proxy
/// if it is empty), within `reach`.
///
/// # Errors
/// Every glob and name that matches nothing.
pub fn select(
    catalogue: &Catalogue,
    stack_globs: &[String],
    workload_names: &[String],
    reach: Reach,
) -> Result<Selection, SelectError> {
    let stacks = stack_choices(catalogue, reach);
    let all = reach != Reach::Defaults;
    let workloads = workload_choices(catalogue, reach);
    let default_names: Vec<String> = default_workloads(catalogue, all);
    let workload_names = if workload_names.is_empty() {
        &default_names
    } else {
        workload_names
    };
    let any = ["*".to_owned()];
    let stack_globs = if stack_globs.is_empty() {
        &any
    } else {
        stack_globs
    };
    let mut problems = Vec::new();
    let chosen_stacks = choose("stack", &stacks, stack_globs, all, &mut problems);
    let chosen_points = choose("workload", &workloads, workload_names, all, &mut problems);
    if !problems.is_empty() {
        return Err(SelectError { problems });
    }
    let targets = catalogue.stacks.iter().zip(chosen_stacks);
    let targets = targets.flat_map(|(stack, chosen)| keep(stack.manifest.targets(), &chosen));
    let workloads = catalogue.workloads.iter().zip(chosen_points);
    let workloads = workloads.filter(|(_, chosen)| chosen.contains(&true));
    Ok(Selection {
        targets: targets.collect(),
        workloads: workloads
            .map(|(manifest, chosen)| SelectedWorkload {
                points: keep(manifest.point.clone(), &chosen),
                manifest: manifest.clone(),
            })
            .collect(),
    })
}

/// The names of the workloads of a pack.
///
/// # Errors
/// When there is no pack of this name.
pub fn pack(catalogue: &Catalogue, name: &str) -> Result<Vec<String>, SelectError> {
    let in_pack = catalogue.workloads.iter().filter(|one| one.pack.is_some());
    let own = in_pack
        .clone()
        .filter(|one| one.pack.as_deref() == Some(name));
    let own: Vec<String> = own.map(|one| one.id.clone()).collect();
    if !own.is_empty() {
        return Ok(own);
    }
    let packs: BTreeSet<&str> = in_pack.filter_map(|one| one.pack.as_deref()).collect();
    let nearest =
        did_you_mean(name, packs.iter().copied()).map_or(String::new(), |text| format!(" {text}"));
    let there = match packs.len() {
        0 => "there are none".to_owned(),
        _ => format!("there are {}", enumerate(packs)),
    };
    Err(SelectError {
        problems: vec![format!("no pack is called `{name}`:{nearest} {there}")],
    })
}

/// Selects stacks by `globs`. A name without a colon selects all variants; an empty list selects everything.
///
/// # Errors
/// Every glob that matches nothing.
pub fn select_targets(
    catalogue: &Catalogue,
    globs: &[String],
) -> Result<Vec<TargetId>, SelectError> {
    let mut problems = Vec::new();
    let chosen = choose(
        "stack",
        &stack_choices(catalogue, Reach::Everything),
        globs,
        true,
        &mut problems,
    );
    if !problems.is_empty() {
        return Err(SelectError { problems });
    }
    let targets = catalogue.stacks.iter().zip(chosen);
    Ok(targets
        .flat_map(|(stack, chosen)| {
            if globs.is_empty() {
                stack.manifest.targets()
            } else {
                keep(stack.manifest.targets(), &chosen)
            }
        })
        .collect())
}

/// A name, and the parts that may follow its colon, the default first. A stack without variants has one part with an
/// empty name.
struct Choice {
    name: String,
    parts: Vec<String>,
    /// Which of these the name alone does not reach, also where it means all of them.
    hidden: Vec<bool>,
    /// The protocol that each of them speaks, by its key. Empty: they have none.
    protocols: Vec<&'static str>,
    /// Whether no wildcard reaches it.
    by_name: bool,
}

impl Choice {
    /// Those of its parts that speak the protocol of this name, with its own.
    fn speaking(&self, protocol: &str) -> impl Iterator<Item = String> {
        let parts = self.parts.iter().zip(&self.protocols);
        let of_it = parts.filter(move |(_, key)| key.eq_ignore_ascii_case(protocol));
        of_it.map(|(part, _)| format!("{}:{part}", self.name))
    }
}

fn stack_choices(catalogue: &Catalogue, reach: Reach) -> Vec<Choice> {
    let stacks = catalogue.stacks.iter();
    stacks
        .map(|stack| Choice {
            name: stack.manifest.id.clone(),
            parts: stack
                .manifest
                .targets()
                .into_iter()
                .map(|target| target.variant.unwrap_or_default())
                .collect(),
            hidden: Vec::new(),
            protocols: Vec::new(),
            by_name: reach != Reach::Everything && stack.manifest.role == StackRole::Historic,
        })
        .collect()
}

fn workload_choices(catalogue: &Catalogue, reach: Reach) -> Vec<Choice> {
    let workloads = catalogue.workloads.iter();
    workloads
        .map(|workload| Choice {
            name: workload.id.clone(),
            parts: workload
                .point
                .iter()
                .map(|point| point.id.clone())
                .collect(),
            hidden: workload
                .point
                .iter()
                .map(|point| reach != Reach::Everything && !point.protocol.is_usual())
                .collect(),
            protocols: workload
                .point
                .iter()
                .map(|point| point.protocol.key())
                .collect(),
            by_name: reach != Reach::Everything && workload.pack.is_some(),
        })
        .collect()
}

fn default_workloads(catalogue: &Catalogue, all: bool) -> Vec<String> {
    let usual: Vec<String> = DEFAULT_WORKLOADS
        .into_iter()
        .filter(|id| catalogue.workload(id).is_some())
        .map(str::to_owned)
        .collect();
    // Somebody else's root folder may have none of them.
    if all || usual.is_empty() {
        vec!["*".to_owned()]
    } else {
        usual
    }
}

/// For each of `choices` which of its parts `globs` choose.
fn choose(
    noun: &str,
    choices: &[Choice],
    globs: &[String],
    all: bool,
    problems: &mut Vec<String>,
) -> Vec<Vec<bool>> {
    let mut chosen: Vec<Vec<bool>> = choices
        .iter()
        .map(|choice| vec![false; choice.parts.len()])
        .collect();
    for glob in globs {
        let matcher = match Glob::new(glob) {
            Ok(parsed) => parsed.compile_matcher(),
            Err(error) => {
                problems.push(format!("`{glob}` is not a valid glob: {}", error.kind()));
                continue;
            }
        };
        let mut hits = 0;
        for (choice, chosen) in choices.iter().zip(&mut chosen) {
            for index in matching_parts(choice, glob, &matcher, all) {
                chosen[index] = true;
                hits += 1;
            }
        }
        if hits == 0 {
            problems.push(nothing_matches(noun, choices, glob));
        }
    }
    chosen
}

fn matching_parts(choice: &Choice, glob: &str, matcher: &GlobMatcher, all: bool) -> Vec<usize> {
    let whole_name = !glob.contains(':');
    let is_named = glob.split(':').next() == Some(&choice.name);
    if choice.by_name && !is_named {
        return Vec::new();
    }
    let parts = choice.parts.iter().enumerate();
    parts
        .filter(|(index, part)| {
            if whole_name {
                let is_hidden = choice.hidden.get(*index).copied().unwrap_or(false);
                matcher.is_match(&choice.name) && (*index == 0 || all && !is_hidden)
            } else {
                matcher.is_match(format!("{}:{part}", choice.name))
            }
        })
        .map(|(index, _)| index)
        .collect()
}

fn nothing_matches(noun: &str, choices: &[Choice], glob: &str) -> String {
    let names = || choices.iter().map(|choice| choice.name.as_str());
    let elsewhere = match noun {
        "stack" => "; --stacks DIR adds those of another folder",
        _ => "",
    };
    if choices.is_empty() {
        return format!("no {noun} matches `{glob}`: there are none{elsewhere}");
    }
    let Ok(target) = glob.parse::<TargetId>();
    if let Some(cpus) = target.cpus.filter(|_| noun == "stack") {
        return format!(
            "no stack matches `{glob}`: name `{}`, with --cpus {cpus}",
            target.on_cpus(None)
        );
    }
    let (name, part) = glob.split_once(':').unwrap_or((glob, ""));
    // The name may be right, and only the part after the colon wrong.
    let meant = Glob::new(name).ok().map(|name| name.compile_matcher());
    let is_meant = |choice: &&Choice| {
        meant
            .as_ref()
            .is_some_and(|name| name.is_match(&choice.name))
    };
    let all_meant = || choices.iter().filter(is_meant);
    // The name of a protocol means the points that speak it.
    let speaks = |choice: &&Choice| choice.speaking(part).next().is_some();
    if let Some(choice) = all_meant().find(speaks).or_else(|| all_meant().next()) {
        let name = &choice.name;
        let parts = || {
            choice
                .parts
                .iter()
                .map(String::as_str)
                .filter(|part| !part.is_empty())
        };
        let Some(first) = parts().next() else {
            return format!("no {noun} matches `{glob}`: `{name}` has no variants");
        };
        let speaking: Vec<String> = all_meant()
            .flat_map(|choice| choice.speaking(part))
            .take(3)
            .collect();
        let nearest = if !speaking.is_empty() {
            let names = either(speaking.iter().map(String::as_str));
            format!("did you mean {names}?")
        } else if choices.iter().any(|choice| speaks(&choice)) {
            format!("none of its loads speaks {}.", part.to_lowercase())
        } else {
            did_you_mean(part, parts()).unwrap_or_else(|| format!("say `{name}:{first}`?"))
        };
        return format!(
            "no {noun} matches `{glob}`: {nearest} `{name}` has {}",
            enumerate(parts())
        );
    }
    if noun == "stack" && choices.len() > MAX_NAMES {
        let near = nearest_few(name, names(), 3);
        let near = match near.len() {
            0 => String::new(),
            _ => format!(" did you mean {}?", either(near)),
        };
        return format!(
            "no {noun} matches `{glob}`:{near} `deadheat stacks list` lists all {}{elsewhere}",
            choices.len()
        );
    }
    let nearest = did_you_mean(name, names()).map_or(String::new(), |text| format!(" {text}"));
    format!(
        "no {noun} matches `{glob}`:{nearest} there are {}{elsewhere}",
        enumerate(names())
    )
}

fn keep<T>(items: Vec<T>, chosen: &[bool]) -> Vec<T> {
    let pairs = items.into_iter().zip(chosen);
    pairs
        .filter(|(_, chosen)| **chosen)
        .map(|(item, _)| item)
        .collect()
}
