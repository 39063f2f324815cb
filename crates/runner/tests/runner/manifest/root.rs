use std::{
    fs,
    os::unix::fs::{chown, lchown, symlink},
    path::Path,
};

use deadheat_runner::manifest::find_root;

#[test]
fn the_flag_wins_over_the_variable_and_that_over_the_current_folder() {
    let (one, two, three) = (super::root(&[]), super::root(&[]), super::root(&[]));
    let (one, two, three) = (one.path(), two.path(), three.path());
    assert_eq!(
        find_root(Some(one), Some(two), three).unwrap().as_deref(),
        Some(one)
    );
    assert_eq!(
        find_root(None, Some(two), three).unwrap().as_deref(),
        Some(two)
    );
    assert_eq!(
        find_root(None, None, three).unwrap().as_deref(),
        Some(three)
    );
}

#[test]
fn the_search_goes_upwards_and_an_empty_variable_is_none() {
    let root = super::root(&[]);
    let deep = root.path().join("stacks/go-nethttp/src");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(
        find_root(None, Some(Path::new("")), &deep)
            .unwrap()
            .as_deref(),
        Some(root.path())
    );
}

#[test]
fn a_relative_folder_counts_from_the_current_one() {
    let root = super::root(&[]);
    let parent = root.path().parent().unwrap();
    let name = Path::new(root.path().file_name().unwrap());
    let found = find_root(Some(name), None, parent).unwrap();
    assert_eq!(found.as_deref(), Some(root.path()));
}

#[test]
fn without_a_root_there_is_none() {
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(find_root(None, None, empty.path()).unwrap(), None);
}

#[test]
fn a_folder_that_was_named_and_is_none_is_not_replaced_by_another() {
    let root = super::root(&[]);
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join("stacks")).unwrap();
    let error = find_root(None, Some(other.path()), root.path()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("DEADHEAT_ROOT names"), "{text}");
    assert!(text.contains("no folder `workloads`"), "{text}");
}

#[test]
fn what_another_user_can_have_written_is_used_only_if_it_is_named() {
    const OTHER: u32 = 12_345;
    let root = super::root(&[]);
    let stack = root.path().join("stacks/go-nethttp");
    fs::create_dir_all(&stack).unwrap();
    fs::write(stack.join("stack.toml"), "").unwrap();
    let link = root.path().join("stacks/linked");
    symlink(&stack, &link).unwrap();
    if lchown(&link, Some(OTHER), None).is_err() {
        deadheat_testkit::not_tested("stacks of other users", "only root can give files away");
        return;
    }
    let found = || find_root(None, None, root.path());
    let refused = || {
        let text = found().unwrap_err().to_string();
        assert!(
            text.contains("belongs to another user (uid 12345)"),
            "{text}"
        );
        assert!(text.contains("--root"), "{text}");
        assert!(find_root(Some(root.path()), None, Path::new("/")).is_ok());
    };
    refused();
    fs::remove_file(&link).unwrap();
    for path in [
        "",
        "stacks",
        "workloads",
        "stacks/go-nethttp",
        "stacks/go-nethttp/stack.toml",
    ] {
        let path = root.path().join(path);
        chown(&path, Some(OTHER), None).unwrap();
        refused();
        chown(&path, Some(0), None).unwrap();
    }
    assert_eq!(found().unwrap().as_deref(), Some(root.path()));
    // As root in a shared folder such as /tmp, where others can make what was not there.
    let inner = root.path().join("mine");
    fs::create_dir(&inner).unwrap();
    chown(root.path().join("stacks"), Some(OTHER), None).unwrap();
    assert!(find_root(None, None, &inner).is_err());
}
