//! Which modules of a crate use each other, by their source.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{
    Attribute, GenericArgument, Ident, ImplItemFn, ImplItemType, ItemFn, ItemMod, ItemUse,
    PathArguments, ReturnType, Signature, TraitItemFn, Type, UseTree, Visibility,
    visit::{self, Visit},
};

/// A file's modules from the crate's root on: `load/live/mod.rs` is `["load", "live"]`.
pub type Module = Vec<String>;

/// The circles of a crate's files, in each of which every file uses every other one, directly or through others: strongly
/// connected components. Parents and their own children may use each other: these are one thing.
pub fn circles(folder: &Path) -> Vec<Vec<Module>> {
    let files: BTreeMap<Module, PathBuf> = rust_files(vec![folder.to_owned()])
        .into_iter()
        .map(|file| (module_of(folder, &file), file))
        .collect();
    let mut all = Uses::default();
    let mut used = Vec::new();
    for (module, file) in &files {
        let uses = uses_of(file, module.clone());
        used.extend(uses.found.into_iter().map(|path| (module, path)));
        all.exported.extend(uses.exported);
    }
    let related = |a: &Module, b: &Module| a.starts_with(b) || b.starts_with(a);
    let mut edges: BTreeMap<&Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, path) in used {
        let home = all.home(path, &files);
        if !related(module, &home) {
            edges.entry(module).or_default().insert(home);
        }
    }
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = files
        .keys()
        .map(|module| (module, reached(module, &edges)))
        .collect();
    let mut circles: Vec<Vec<Module>> = Vec::new();
    for module in files.keys() {
        let is_known = circles.iter().any(|circle| circle.contains(module));
        let back = |other: &&&Module| reached[**other].contains(module);
        if !is_known && reached[module].contains(module) {
            let circle = reached[module].iter().filter(back);
            circles.push(circle.map(|other| (*other).clone()).collect());
        }
    }
    circles
}

/// What a file names, tests excepted.
pub fn uses_of(file: &Path, module: Module) -> Uses {
    let mut uses = Uses {
        module,
        ..Uses::default()
    };
    uses.visit_file(&parsed(file));
    uses
}

fn parsed(file: &Path) -> syn::File {
    let text = fs::read_to_string(file).expect("reading a source file");
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What a module uses, directly or through others; itself too, if it is in a circle.
fn reached<'a>(
    module: &Module,
    edges: &'a BTreeMap<&Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = edges.get(module).into_iter().flatten().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(edges.get(next).into_iter().flatten());
        }
    }
    reached
}

pub fn module_of(folder: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(folder).expect("below its folder");
    let path = path.with_extension("");
    let mut module: Module = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    module
}

/// Collects what files name in their own crate, tests excepted.
#[derive(Default)]
pub struct Uses {
    /// The one that is being read.
    module: Module,
    /// Paths as they are written.
    pub written: Vec<Vec<String>>,
    /// Those in this crate, from its root on.
    found: Vec<Vec<String>>,
    /// What modules re-export by name: a path as it can be written, and where it leads.
    exported: BTreeMap<Vec<String>, Vec<String>>,
}

impl Uses {
    fn follow(&mut self, path: &[String], tree: &UseTree, is_exported: bool) {
        let with = |ident: &Ident| [path, &[ident.to_string()]].concat();
        let (named, name) = match tree {
            UseTree::Path(further) => {
                return self.follow(&with(&further.ident), &further.tree, is_exported);
            }
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|one| self.follow(path, one, is_exported));
            }
            UseTree::Name(name) => (with(&name.ident), Some(&name.ident)),
            UseTree::Rename(renamed) => (with(&renamed.ident), Some(&renamed.rename)),
            UseTree::Glob(_) => (path.to_vec(), None),
        };
        self.written.push(named.clone());
        let Some(named) = self.absolute(&named) else {
            return;
        };
        if let (true, Some(name)) = (is_exported, name) {
            let written = [&self.module[..], &[name.to_string()]].concat();
            self.exported.insert(written, named.clone());
        }
        self.found.push(named);
    }

    /// The file that has an item, wherever it is re-exported.
    fn home(&self, mut path: Vec<String>, files: &BTreeMap<Module, PathBuf>) -> Module {
        // Of re-exports in a circle the compiler would have complained.
        let exported = |path: &[String]| {
            (1..=path.len()).find_map(|end| {
                let target = self.exported.get(&path[..end])?;
                Some([&target[..], &path[end..]].concat())
            })
        };
        for _ in 0..files.len() {
            match exported(&path) {
                Some(further) if further != path => path = further,
                _ => break,
            }
        }
        while !path.is_empty() && !files.contains_key(&path) {
            path.pop();
        }
        path
    }

    /// A path from the crate's root; `None`: it begins with another crate, or with a child.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let up = path.iter().take_while(|part| *part == "super").count();
        let (from, path) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&self.module[..], &path[1..]),
            "super" => (&self.module[..self.module.len() - up], &path[up..]),
            _ => return None,
        };
        Some([from, path].concat())
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let is_of_tests = |one: &Attribute| {
            let what = one.parse_args::<syn::Path>();
            one.path().is_ident("cfg") && what.is_ok_and(|what| what.is_ident("test"))
        };
        if item.attrs.iter().any(is_of_tests) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_exported = !matches!(item.vis, Visibility::Inherited);
        self.follow(&[], &item.tree, is_exported);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect();
        self.found.extend(self.absolute(&parts));
        self.written.push(parts);
        visit::visit_path(self, path);
    }
}

/// Public functions of a file whose error is a text, and conversions with one.
pub fn text_errors(file: &Path) -> Vec<String> {
    let mut found = TextErrors::default();
    found.visit_file(&parsed(file));
    found.0
}

#[derive(Default)]
struct TextErrors(Vec<String>);

impl TextErrors {
    fn function(&mut self, is_public: bool, signature: &Signature) {
        let ReturnType::Type(_, returned) = &signature.output else {
            return;
        };
        if let (true, Some(error)) = (is_public, error_of(returned))
            && is_text(error)
        {
            self.0.push(format!("fn {}", signature.ident));
        }
    }
}

/// `E` of a `Result<T, E>`.
fn error_of(returned: &Type) -> Option<&Type> {
    let Type::Path(path) = returned else {
        return None;
    };
    let last = path
        .path
        .segments
        .last()
        .filter(|one| one.ident == "Result")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.get(1)? {
            GenericArgument::Type(error) => Some(error),
            _ => None,
        },
        _ => None,
    }
}

fn is_text(error: &Type) -> bool {
    matches!(error, Type::Path(path) if path.path.is_ident("String"))
}

impl<'ast> Visit<'ast> for TextErrors {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(matches!(item.vis, Visibility::Public(_)), &item.sig);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(matches!(item.vis, Visibility::Public(_)), &item.sig);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.function(true, &item.sig);
    }

    fn visit_impl_item_type(&mut self, item: &'ast ImplItemType) {
        if is_text(&item.ty) {
            self.0.push(format!("type {}", item.ident));
        }
    }
}

/// The Rust files in folders and below them.
pub fn rust_files(mut open: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("listing {}: {error}", folder.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
