//! The commits from one revision to another.

use std::{collections::BTreeSet, path::Path};

use deadheat_model::bisect::Commit;

use super::{Git, Revision, RevisionError};

/// Between the fields of a line. No hash has it, and a subject is the last field.
const SEPARATOR: char = '\u{1f}';
const FORMAT: &str = "--format=%H%x1f%h%x1f%P%x1f%s";

/// The commits after `good` up to `bad`, oldest first: those of the first parents of `bad` that come from `good`. What a
/// merge brought is in the merge. With `below`, a path from `root`, those that change something there.
///
/// # Errors
/// When git fails, `bad` does not come from `good`, or nothing is between them.
pub fn commits_between(
    root: &Path,
    good: &Revision,
    bad: &Revision,
    below: Option<&str>,
) -> Result<Vec<Commit>, RevisionError> {
    let git = Git::new(root)?;
    let typed = |one: &Revision| one.typed.clone();
    let is_before = ["merge-base", "--is-ancestor", &good.commit, &bad.commit];
    if good.commit == bad.commit || !git.says_yes(&is_before)? {
        let common = git.line(&["merge-base", &good.commit, &bad.commit])?;
        return Err(RevisionError::NoAncestor {
            good: typed(good),
            bad: typed(bad),
            common: common.filter(|base| *base != good.commit),
        });
    }
    let range = format!("{}..{}", good.commit, bad.commit);
    // Together with --first-parent, --ancestry-path finds nothing if a merge brought `good`.
    let from_good: BTreeSet<String> = git
        .lines(&["rev-list", "--ancestry-path", &range])?
        .into_iter()
        .collect();
    let mut list = vec!["rev-list", "--first-parent", "--reverse", FORMAT, &range];
    list.extend(below.iter().flat_map(|path| ["--", path]));
    let commits: Vec<Commit> = git
        .lines(&list)?
        .iter()
        .filter_map(|line| commit(line))
        .collect();
    let commits: Vec<Commit> = commits
        .into_iter()
        .filter(|one| from_good.contains(&one.commit))
        .collect();
    if commits.is_empty() {
        return Err(RevisionError::NothingBetween {
            good: typed(good),
            bad: typed(bad),
            below: below.unwrap_or("anything").to_owned(),
        });
    }
    Ok(commits)
}

/// The commit of a revision.
///
/// # Errors
/// When git fails.
pub fn commit_of(root: &Path, revision: &Revision) -> Result<Commit, RevisionError> {
    let lines = Git::new(root)?.lines(&["rev-list", "--max-count=1", FORMAT, &revision.commit])?;
    let found = lines.iter().find_map(|line| commit(line));
    found.ok_or_else(|| RevisionError::Unknown {
        typed: revision.typed.clone(),
        root: root.to_owned(),
    })
}

/// A commit in [`FORMAT`]; `None`: another line of git's.
fn commit(line: &str) -> Option<Commit> {
    let mut fields = line.splitn(4, SEPARATOR);
    let mut field = || fields.next().map(str::to_owned);
    let (commit, short, parents, subject) = (field()?, field()?, field()?, field()?);
    Some(Commit {
        commit,
        short,
        subject,
        merge: parents.contains(' '),
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Stdio};

    use super::*;
    use crate::git;

    /// A repository: a, b (changes `stack/x`), merge of a branch with f and g, c.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let git = |line: &str| {
            let own = "-c user.name=t -c user.email=t@example.invalid -c init.defaultBranch=main";
            let words: Vec<&str> = own.split(' ').chain(line.split(' ')).collect();
            let mut command = git::command(folder.path(), &words);
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert!(status.unwrap().success(), "{line}");
        };
        let commit = |name: &str| git(&format!("commit -q --allow-empty -m {name}"));
        git("init -q");
        commit("a");
        git("tag a");
        git("checkout -q -b branch");
        commit("f");
        git("tag f");
        commit("g");
        git("checkout -q main");
        fs::create_dir_all(folder.path().join("stack")).unwrap();
        fs::write(folder.path().join("stack/x"), "1").unwrap();
        git("add .");
        commit("b");
        git("merge -q --no-ff -m merge branch");
        commit("c");
        folder
    }

    fn between(folder: &Path, good: &str, below: Option<&str>) -> Result<Vec<String>, String> {
        let find = |typed| Revision::find(folder, typed).unwrap();
        let commits = commits_between(folder, &find(good), &find("main"), below);
        let commits = commits.map_err(|error| error.to_string())?;
        let mark = |one: Commit| format!("{}{}", one.subject, if one.merge { "*" } else { "" });
        Ok(commits.into_iter().map(mark).collect())
    }

    #[test]
    fn a_merge_stands_for_what_it_brought() {
        let folder = repository();
        let folder = folder.path();
        let names = |names: &[&str]| Ok(names.iter().map(|one| (*one).to_owned()).collect());
        assert_eq!(between(folder, "a", None), names(&["b", "merge*", "c"]));
        assert_eq!(
            between(folder, "f", None),
            names(&["merge*", "c"]),
            "good is in the branch"
        );
        assert_eq!(between(folder, "a", Some("stack")), names(&["b"]));
        let error = between(folder, "main", None).unwrap_err();
        assert!(error.contains("not an ancestor"), "{error}");
        let error = between(folder, "main~1", Some("stack")).unwrap_err();
        assert!(error.contains("no commit changes stack"), "{error}");
        let find = |typed| Revision::find(folder, typed).unwrap();
        let error = commits_between(folder, &find("main"), &find("branch"), None).unwrap_err();
        assert!(error.to_string().contains("last common commit"), "{error}");
    }
}
