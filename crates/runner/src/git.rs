//! Git, run in a folder: the one place that starts it.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Variables by which git finds a repository without looking at the folder: what a hook of another repository has in
/// its environment, and so Deadheat when a hook starts it (`git rev-parse --local-env-vars`, without configuration).
const OF_A_REPOSITORY: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Git with these arguments, in the repository that `folder` is in.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    for variable in OF_A_REPOSITORY {
        command.env_remove(variable);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    tracing::debug!("git -C {} {}", folder.display(), arguments.join(" "));
    command
}

/// What git prints; `None` where there is no git, no repository, or git says no.
pub(crate) fn ask(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = command(folder, arguments).output().ok()?;
    output.status.success().then_some(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_of_another_repository_does_not_say_where_this_one_is() {
        // The environment of a process cannot be changed safely, so the test starts itself as a hook would.
        if std::env::var_os("GIT_DIR").is_none() {
            let mut hook = Command::new(std::env::current_exe().unwrap());
            hook.arg("a_hook_of_another_repository_does_not_say_where_this_one_is");
            for variable in OF_A_REPOSITORY {
                hook.env(variable, "/nowhere");
            }
            let output = hook.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && said.contains("1 passed"),
                "{said}"
            );
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| ask(folder.path(), arguments).unwrap();
        git(&["init", "-q"]);
        std::fs::write(folder.path().join("file"), "1").unwrap();
        git(&["add", "file"]);
        let own = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        git(&[&own[..], &["commit", "-q", "-m", "first"]].concat());
        let commit = String::from_utf8(git(&["rev-parse", "HEAD"])).unwrap();
        let head = std::fs::read_to_string(folder.path().join(".git/HEAD")).unwrap();
        let branch = folder
            .path()
            .join(".git")
            .join(head.trim().trim_start_matches("ref: "));
        assert_eq!(std::fs::read_to_string(branch).unwrap(), commit);
    }
}
