//! `pom.xml`, of Maven. Maven has no lock file, but a version that is written out is one.

use roxmltree::{Document, Node};

/// A property may stand in another one, but not endlessly.
const DEEPEST_PROPERTY: usize = 10;

/// The version of "group:artifact": as its dependency says, or the `dependencyManagement` (where imported BOMs stand,
/// too), or the `parent`, or a plugin.
pub(super) fn version(text: &str, package: &str) -> Result<Option<String>, String> {
    let Some((group, artifact)) = package.split_once(':') else {
        return Err("a package of Maven is named \"group:artifact\"".to_owned());
    };
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let project = document.root_element();
    if project.tag_name().name() != "project" {
        return Err("it has no `<project>`".to_owned());
    }
    let is_package = |entry: &Node<'_, '_>, default_group: Option<&str>| {
        let group_of_entry = text_of(*entry, "groupId").or(default_group);
        group_of_entry.is_some_and(|text| resolve(project, text).as_deref() == Some(group))
            && text_of(*entry, "artifactId")
                .is_some_and(|text| resolve(project, text).as_deref() == Some(artifact))
    };
    let places: [(&[&str], Option<&str>); 4] = [
        (&["dependencies", "dependency"], None),
        (
            &["dependencyManagement", "dependencies", "dependency"],
            None,
        ),
        (&["parent"], None),
        (
            &["build", "plugins", "plugin"],
            Some("org.apache.maven.plugins"),
        ),
    ];
    let mut is_named = false;
    for (path, default_group) in places {
        for entry in descend(project, path) {
            if !is_package(&entry, default_group) {
                continue;
            }
            is_named = true;
            if let Some(version) = text_of(entry, "version") {
                return fixed(project, version).map(Some);
            }
        }
    }
    if is_named {
        return Err(
            "its version is not written there, because the parent or a BOM decides it: \
                    name that one in [[locked]] instead"
                .to_owned(),
        );
    }
    Ok(None)
}

/// The version that `text` stands for, which must be one and not a range.
fn fixed(project: Node<'_, '_>, text: &str) -> Result<String, String> {
    let Some(version) = resolve(project, text) else {
        return Err(format!(
            "its version is {text}, which the properties of the file do not settle"
        ));
    };
    let is_open = version.contains(['[', '(', ',']) || ["LATEST", "RELEASE"].contains(&&*version);
    if is_open || version.is_empty() {
        return Err(format!(
            "its version is `{version}`, which is not one version"
        ));
    }
    Ok(version)
}

/// `text` with its `${properties}` put in; `None` when one is not known.
fn resolve(project: Node<'_, '_>, text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..DEEPEST_PROPERTY {
        let Some((before, rest)) = text.split_once("${") else {
            return Some(text);
        };
        let (name, after) = rest.split_once('}')?;
        text = format!("{before}{}{after}", property(project, name)?);
    }
    None
}

fn property<'a>(project: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let own = child(project, "properties").and_then(|all| text_of(all, name));
    if own.is_some() {
        return own;
    }
    // The project's own coordinates, where they are left out those of its parent.
    let name = name.strip_prefix("project.")?;
    match name.strip_prefix("parent.") {
        Some(name) => text_of(child(project, "parent")?, name),
        None if ["groupId", "version"].contains(&name) => {
            text_of(project, name).or_else(|| text_of(child(project, "parent")?, name))
        }
        None => text_of(project, name),
    }
}

/// All elements at `path` below `from`.
fn descend<'a, 'input>(from: Node<'a, 'input>, path: &[&str]) -> Vec<Node<'a, 'input>> {
    path.iter().fold(vec![from], |nodes, name| {
        let children = nodes.iter().flat_map(Node::children);
        children
            .filter(|node| node.is_element() && node.tag_name().name() == *name)
            .collect()
    })
}

fn child<'a, 'input>(of: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    descend(of, &[name]).into_iter().next()
}

/// The text of the child element `name`, trimmed.
fn text_of<'a>(of: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(of, name)?.text().map(str::trim)
}
