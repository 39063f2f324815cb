//! What makes figures unfit to be published.

use super::Entry;

/// What nobody else could build again: sources that are in no commit, `commit` being that of the checkout, and a Deadheat
/// that was built for its tests. Stacks that are part of Deadheat can be had with its version.
pub(crate) fn of_the_checkout(commit: Option<&str>, are_embedded: bool) -> Vec<String> {
    let sources = match commit {
        None if are_embedded => None,
        None => Some(
            "the stacks lie outside a git checkout: nobody can tell which sources were measured",
        ),
        Some(commit) if commit.ends_with("-dirty") => {
            Some("the checkout has changes that are not committed: nobody else has these sources")
        }
        Some(_) => None,
    };
    let slow = cfg!(debug_assertions).then_some(
        "this deadheat was built without optimisation: its generator is slow (cargo build --release)",
    );
    sources.into_iter().chain(slow).map(str::to_owned).collect()
}

/// These objections as lines of a plan.
pub(crate) fn unfit(objections: &[String]) -> impl Iterator<Item = Entry> {
    let objections = objections.iter();
    objections.map(|one| ("unfit", format!("to be published: {one}")))
}
