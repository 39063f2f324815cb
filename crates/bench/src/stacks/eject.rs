//! `deadheat stacks eject`: a copy of a stack, for its user to change.

use std::{io, path::Path};

use deadheat_runner::{eject::eject as copy, manifest, prepare::in_shell};
use deadheat_shell::{
    exit::{Exit, Failure},
    output,
};

use super::name::Name;
use crate::{options::EjectArgs, select};

pub(crate) fn eject(args: &EjectArgs) -> Result<Exit, Failure> {
    let root = select::root(args.root.as_deref())?.folder;
    let id = args.rename.as_deref().unwrap_or(&args.name);
    if args.rename.is_some() {
        Name::parse(id).map_err(Failure::usage)?;
    }
    // A mistake in another stack's manifest is no reason not to copy this one.
    let reading = manifest::read(&root, &[]).map_err(Failure::usage)?;
    let mut stacks = reading.catalogue.stacks.iter();
    let stack = stacks.find(|stack| stack.manifest.id == args.name);
    let stack = stack.ok_or_else(|| {
        Failure::usage(format!(
            "the stack `{}` does not exist; `deadheat stacks list` shows all of them",
            args.name
        ))
    })?;
    let folder = args.folder.join(id);
    let copied = copy(stack, &args.folder, id).map_err(|error| {
        let folder = folder.display();
        Failure::usage(if error.kind() == io::ErrorKind::AlreadyExists {
            format!(
                "{folder} is there already; name another folder (deadheat stacks eject {} DIR), or delete it",
                args.name
            )
        } else {
            format!("copying {} to {folder}: {error}", args.name)
        })
    })?;
    output::data(&told(&args.name, id, &args.folder, copied))?;
    Ok(Exit::Fine)
}

fn told(name: &str, id: &str, place: &Path, copied: usize) -> String {
    let folder = place.join(id);
    let option = in_shell(&["--stacks".to_owned(), place.display().to_string()]);
    let versus = if name == id {
        format!(
            "With {option}, it replaces Deadheat's own {name}, and the report mentions that. To compare the two, copy \
             it under another name: deadheat stacks eject {name} --as NAME\n"
        )
    } else {
        format!("  deadheat compare {name} {id} {option}\n")
    };
    format!(
        "copied {name} to {} ({copied} files)\nchange it there, then:\n  deadheat stacks check {id} {option}\n  \
         deadheat run --stack {id} {option}\n{versus}",
        folder.display()
    )
}
