use std::{fs, path::Path};

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
