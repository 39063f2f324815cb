//! Manifests: what is read, how mistakes are drawn, and what globs select.

mod catalogue;
mod published_mistakes;
mod repeating;
mod root;
mod selection;
mod stack_mistakes;
mod workload_mistakes;

use std::{fs, path::Path};

use deadheat_runner::manifest::{ManifestErrors, Reading, read};

/// A root folder with `files`, made in a temporary folder.
fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("stacks")).unwrap();
    fs::create_dir_all(root.path().join("workloads")).unwrap();
    for (path, text) in files {
        write(root.path(), path, text);
    }
    root
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What reading `files` finds wrong, drawn without colour.
fn drawn(files: &[(&str, &str)]) -> String {
    let root = root(files);
    let Reading { errors, .. } = read(root.path(), &[]).unwrap();
    ManifestErrors(errors).render(false)
}

/// The least that a stack's manifest holds; `more` follows it.
fn stack(id: &str, more: &str) -> String {
    format!(
        "id = \"{id}\"\nlanguage = \"Go\"\nframework = \"net/http\"\nclass = \"platform\"\nruntime = \"native\"\n\n\
         [database]\nio = \"async\"\nlayer = \"raw\"\ndriver = \"pgx\"\npool = 16\n\n\
         [run]\ncommand = [\"out/server\"]\n{more}"
    )
}

/// The least that a workload's manifest holds; `more` follows it.
fn workload(id: &str, more: &str) -> String {
    format!(
        "id = \"{id}\"\ndescription = \"A text\"\nmethod = \"GET\"\npath = \"/{id}\"\n\
         content-type = \"text/plain\"\ncontent-sample = 10\n\n\
         [oracle]\nkind = \"text\"\nbody = \"Hello\"\n\n\
         [[point]]\nid = \"c50\"\nconnections = 50\n{more}"
    )
}

/// The least that a published comparison holds, with two rows; `more` follows them.
fn published(id: &str, more: &str) -> String {
    format!(
        "id = \"{id}\"\ntitle = \"Two\"\nsource = \"a page\"\ntool = \"ab\"\n\n\
         [[table]]\nid = \"table\"\ntitle = \"A text\"\nworkload = \"text\"\nbaseline = \"A\"\n\n\
         [table.load]\ncommand = \"ab -n 1000 -c 10 http://localhost/\"\nrequests = 1000\nconnections = 10\n\
         http = \"1.0\"\nreuse = \"per-request\"\n\n\
         [[table.row]]\nname = \"A\"\ntarget = \"go-a\"\nrequests-per-second = 100.0\n\n\
         [[table.row]]\nname = \"B\"\ntarget = \"go-a\"\nno-figures = \"it hung\"\n{more}"
    )
}
