//! `deadheat stacks new`: a folder that passes `stacks check` for plaintext at once, and says what is left.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deadheat_model::WorkloadManifest;
use deadheat_runner::{manifest, prepare::in_shell};
use deadheat_shell::{
    exit::{Exit, Failure},
    output,
};

use super::{
    name::Name,
    skeletons::{self, Skeleton},
};
use crate::{options::NewArgs, select};

/// What a skeleton answers.
const ANSWERED: &str = "plaintext";

pub(crate) fn new(args: &NewArgs) -> Result<Exit, Failure> {
    let name = Name::parse(&args.name).map_err(Failure::usage)?;
    let skeleton = choose(&name, args.from.as_deref()).map_err(Failure::usage)?;
    let root = select::root(args.place.root.as_deref())?;
    // A mistake in another stack's manifest is no reason not to begin one.
    let workloads = manifest::read(&root.folder, &[])
        .map_err(Failure::usage)?
        .catalogue
        .workloads;
    let left = left_to_do(&name, &workloads);
    // The last folder that was named is where new ones go. Stacks that are part of the program have a folder where
    // nobody works.
    let here = root.is_embedded.then_some(Path::new("."));
    let own = args.place.more_stacks.last().map(PathBuf::as_path).or(here);
    let folder = own.map_or_else(|| root.folder.join("stacks"), Path::to_owned);
    let folder = folder.join(name.id);
    let files = rendered(skeleton, &name, &left);
    if let Some(own) = own {
        fs::create_dir_all(own)
            .map_err(|error| Failure::usage(format!("making {}: {error}", own.display())))?;
    }
    write(&folder, &files).map_err(|error| {
        let already = error.kind() == io::ErrorKind::AlreadyExists;
        let folder = folder.display();
        Failure::usage(if already {
            format!("{folder} is there already; choose another name, or delete it")
        } else {
            format!("making {folder}: {error}")
        })
    })?;
    let again = own.map_or(String::new(), |own| {
        let words = ["--stacks".to_owned(), own.display().to_string()];
        format!(" {}", in_shell(&words))
    });
    output::data(&told(skeleton, &name, &folder, &again, &files, &left))?;
    Ok(Exit::Fine)
}

fn choose(name: &Name<'_>, from: Option<&str>) -> Result<&'static Skeleton, String> {
    let language = from.unwrap_or(name.language);
    skeletons::find(language).ok_or_else(|| {
        let names = skeletons::names();
        let id = name.id;
        format!(
            "no skeleton exists in `{language}`, only in {names}. To begin with the manifest and README.md of one of \
             them and write the server anew, run `deadheat stacks new {id} --from python`. To make the folder by \
             hand, see docs/adding-a-stack.md"
        )
    })
}

/// What a new stack does not do yet, an item each.
fn left_to_do(name: &Name<'_>, workloads: &[WorkloadManifest]) -> Vec<String> {
    let framework = name.framework;
    let open = workloads.iter().filter(|one| one.id != ANSWERED);
    let routes = open.map(|one| {
        let path = one.path.replace("{rounds}", "N");
        format!("`{} {path}` ({}): {}", one.method, one.id, one.description)
    });
    let first = format!(
        "{framework} itself: pinned, with a lock file, fetched by `build.fetch`, and named in `[[locked]]`"
    );
    let last = [
        "`[database]`, which comes with `users`, and `limits` in stack.toml: correct them"
            .to_owned(),
        "`[protocols]` in stack.toml, if it speaks HTTP/2 or TLS in production: docs/adding-a-stack.md".to_owned(),
        "the last line of README.md, and this list in it".to_owned(),
    ];
    [first].into_iter().chain(routes).chain(last).collect()
}

/// The files of the new stack: paths in its folder, and texts.
fn rendered(skeleton: &Skeleton, name: &Name<'_>, left: &[String]) -> Vec<(&'static str, String)> {
    let items: Vec<String> = left.iter().map(|item| format!("- [ ] {item}")).collect();
    let fill = |text: &str| {
        text.replace("{{id}}", name.id)
            .replace("{{framework}}", name.framework)
            .replace("{{left}}", &items.join("\n"))
    };
    let files = skeleton.files.iter();
    files
        .map(|(path, text)| (path.trim_end_matches(".template"), fill(text)))
        .collect()
}

/// Writes all files into a folder that is not there yet; after a failure it is not there either.
fn write(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    fs::create_dir(folder)?;
    let written = files.iter().try_for_each(|(path, text)| {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    });
    if written.is_err() {
        // What cannot be written may not be deletable either; the first error is the one to tell.
        let _ = fs::remove_dir_all(folder);
    }
    written
}

fn told(
    skeleton: &Skeleton,
    name: &Name<'_>,
    folder: &Path,
    again: &str,
    files: &[(&str, String)],
    left: &[String],
) -> String {
    let id = name.id;
    let mut text = format!("made {}\n", folder.display());
    for (path, _) in files {
        text += &format!("  {path}\n");
    }
    if skeletons::find(name.language).is_none_or(|own| own.language != skeleton.language) {
        text += &format!(
            "It is a stack in {} so far: `language`, `runtime`, `[[toolchain]]`, `[build]` and `[run]` in stack.toml \
             are to be written anew, too.\n",
            skeleton.language
        );
    }
    text += &format!(
        "next:\n  deadheat stacks check {id}{again}\n  deadheat run --stack {id} --workload {ANSWERED} --budget \
         1m{again}\nleft to do, as in its README.md (docs/adding-a-stack.md has the rules):\n"
    );
    for item in left {
        text += &format!("  - {}\n", item.replace('`', ""));
    }
    text
}
