//! A `deadheat` in a folder with nothing in it, for a user who has nothing: there is no checkout.

use std::{fs, os::unix::fs::symlink, path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::support::{Ended, Fake, Recorded, Root, Running, flat, root::project, running};

/// A session of two short heats.
const QUICK: &str = "--workload plaintext --heats 2 --whole-budget --heat-time 300ms --slice 40ms --guard 5ms --warm-up \
                     50ms --seed 1 --rate none";

/// A user's home, and an empty folder to work in.
struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self {
            folder: tempfile::tempdir().expect("making a folder"),
        };
        for name in ["home", "work", running::TEMPORARY] {
            fs::create_dir(user.path(name)).expect("making a folder");
        }
        user
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, args: &str) -> Command {
        let mut command = running::command(self.folder.path(), args);
        command
            .current_dir(self.path("work"))
            .env("HOME", self.path("home"))
            .env_remove("XDG_DATA_HOME");
        command
    }

    #[track_caller]
    fn deadheat(&self, args: &str) -> Ended {
        Running::start_command(self.folder.path(), self.command(args), args).wait()
    }

    /// The only folder that stacks were unpacked into.
    #[track_caller]
    fn unpacked(&self) -> PathBuf {
        let place = self.path("home/.local/share/deadheat");
        let entries = fs::read_dir(place).expect("listing it").flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders.remove(0)
    }
}

#[test]
fn stacks_are_unpacked_once_and_are_those_of_the_project() {
    let user = User::new();
    user.deadheat("run --dry-run")
        .exits(0)
        .says(&["go-nethttp", "plaintext", "users"])
        .tells(&["stacks unpacked into ", "/.local/share/deadheat/stacks-"]);
    let ended = user.deadheat("stacks list nginx").exits(0).says(&["nginx"]);
    assert!(!ended.stderr.contains("unpacked"), "{ended}");
    for path in [
        "stacks/nginx/stack.toml",
        "workloads/users.toml",
        "published/go-nim-python.toml",
    ] {
        let read = |folder: PathBuf| fs::read(folder.join(path)).expect("reading a file");
        assert_eq!(read(user.unpacked()), read(project()), "{path}");
    }
    // What a command does not need is not unpacked.
    let other = User::new();
    other.deadheat("doctor --watch 10ms").exits_one_of(&[0, 1]);
    assert!(!other.path("home/.local").exists());
}

#[test]
fn a_changed_stack_is_put_right_and_where_nothing_can_be_unpacked_the_message_says_so() {
    let user = User::new();
    user.deadheat("stacks list nginx").exits(0);
    let manifest = user.unpacked().join("stacks/nginx/stack.toml");
    let right = fs::read_to_string(&manifest).expect("reading the manifest");
    fs::write(&manifest, "mine").expect("changing the manifest");
    user.deadheat("stacks list nginx")
        .exits(0)
        .tells(&["1 file of the stacks", "stacks eject NAME"]);
    let now = fs::read_to_string(&manifest).expect("reading the manifest");
    assert_eq!(now, right);
    let mut command = user.command("stacks list");
    command.env_remove("HOME");
    Running::start_command(user.folder.path(), command, "stacks list")
        .wait()
        .exits(3)
        .tells(&["neither XDG_DATA_HOME nor HOME", "--root"]);
}

#[test]
fn a_session_records_that_its_stacks_are_part_of_deadheat() {
    let user = User::new();
    user.deadheat("stacks new python-example")
        .exits(0)
        .says(&["deadheat stacks check python-example --stacks ."]);
    assert!(user.path("work/python-example/stack.toml").exists());
    // Without Nim, its stack is unavailable and nothing is fetched.
    let bin = user.path("bin");
    let python = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("running python3");
    fs::create_dir(&bin).expect("making a folder");
    let python = String::from_utf8(python.stdout).expect("a path");
    symlink(python.trim(), bin.join("python3")).expect("linking python3");
    let args = format!("run --stacks . --stack python-example --stack nim-* {QUICK}");
    let mut command = user.command(&args);
    command.env("PATH", &bin);
    Running::start_command(user.folder.path(), command, &args)
        .wait()
        .exits(0)
        .says(&["python-example"]);
    let sessions = fs::read_dir(user.path("work/results")).expect("sessions");
    let session = sessions.flatten().next().expect("a session").path();
    let recorded = Recorded::read(&session);
    let sha256 = recorded.record.header.embedded.clone();
    let sha256 = sha256.expect("the checksum of what is part of deadheat");
    assert_eq!(sha256.len(), 64);
    let folder = user.unpacked();
    let name = folder.file_name().and_then(|name| name.to_str());
    assert_eq!(name, Some(&*format!("stacks-{}", &sha256[..16])));
    let own = recorded.target("python-example").added.clone();
    let own = own.expect("where the stack is");
    assert!(own.folder.ends_with("work/python-example") && !own.replaces);
    // The newest session needs no name.
    let told = user.deadheat("report --details").exits(0);
    let told = told.tells(&["report of results/"]).stdout;
    assert!(flat(&told).contains("part of Deadheat "), "{told}");
}

#[test]
fn a_copy_of_a_stack_is_measured_in_its_place_or_compared_with_it() {
    let user = User::new();
    user.deadheat("stacks eject php-fpm mine")
        .exits(0)
        .says(&["--stacks mine", "--as NAME"]);
    let copy = user.path("work/mine/php-fpm");
    let own = user.unpacked().join("stacks/php-fpm");
    let manifest = |folder: &PathBuf| fs::read_to_string(folder.join("stack.toml")).expect("it");
    assert_eq!(manifest(&copy), manifest(&own));
    user.deadheat("stacks list php-fpm --stacks mine")
        .exits(0)
        .tells(&["mine/php-fpm takes the place of stacks/php-fpm"]);
    user.deadheat("stacks eject php-fpm mine")
        .exits(2)
        .tells(&["mine/php-fpm is there already"]);
    user.deadheat("stacks eject php-fpm mine --as php-mine")
        .exits(0)
        .says(&["deadheat compare php-fpm php-mine --stacks mine"]);
    user.deadheat("run --dry-run --stacks mine --stack php-*")
        .exits(0)
        .says(&["php-fpm", "php-mine"]);
    user.deadheat("stacks eject no-such")
        .exits(2)
        .tells(&["the stack `no-such` does not exist"]);
    user.deadheat("compare php-fpm@HEAD php-fpm")
        .exits(2)
        .tells(&["part of deadheat", "--root"]);
}

#[test]
fn the_change_of_a_copy_is_what_is_measured_and_the_report_shows_it() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.deadheat("stacks eject fake-one mine").exits(0);
    let server = root.path().join("mine/fake-one/server.py");
    let text = fs::read_to_string(&server).expect("reading the copy");
    fs::write(&server, format!("open('changed', 'w').close()\n{text}")).expect("changing it");
    root.run("--stacks mine")
        .exits(0)
        .says(&["in place of", "fake-one (", "mine/fake-one)"]);
    assert!(root.path().join("mine/fake-one/changed").exists());
    assert!(!root.path().join("stacks/fake-one/changed").exists());
    let own = root.session().target("fake-one").added.clone();
    assert!(own.expect("where the stack is").replaces);
}
