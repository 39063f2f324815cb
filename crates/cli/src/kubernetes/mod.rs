//! `deadheat kubernetes-manifest`: pods for a session, and the commands that run it in them.

pub(crate) mod args;
mod commands;
mod documents;
mod pods;

use std::env;

use self::{args::KubernetesArgs, pods::Pods};
use crate::{
    exit::{Exit, Failure},
    output,
};

/// Prints the manifest.
pub(crate) fn manifest(args: &KubernetesArgs) -> Result<Exit, Failure> {
    let program = env::current_exe().map_err(Failure::nothing)?;
    output::data(&text(args, &program.display().to_string()))?;
    Ok(Exit::Fine)
}

/// The commands as comments, and the documents. `program` is this one's file.
fn text(args: &KubernetesArgs, program: &str) -> String {
    let pods = Pods::of(args);
    let mut text = commands::comment(args, &pods, program);
    for document in documents::all(args, &pods) {
        text.push_str("---\n");
        text.push_str(&document);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::Parser as _;
    use yaml_rust2::{Yaml, YamlLoader};

    use super::*;
    use crate::args::{Arguments, Command};

    fn asked(options: &str) -> KubernetesArgs {
        let words = ["deadheat", "kubernetes-manifest"];
        let parsed = Arguments::try_parse_from(words.into_iter().chain(options.split_whitespace()));
        match parsed.unwrap().command {
            Command::KubernetesManifest(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn of(options: &str) -> String {
        text(&asked(options), "/opt/dead heat")
    }

    fn documents(text: &str) -> Vec<Yaml> {
        YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
    }

    fn texts(list: &Yaml) -> Vec<&str> {
        let list = list.as_vec().unwrap_or_else(|| panic!("a list: {list:?}"));
        list.iter()
            .map(|one| one.as_str().expect("a text"))
            .collect()
    }

    /// The pods by name.
    fn pods(documents: &[Yaml]) -> BTreeMap<&str, &Yaml> {
        let pods = documents
            .iter()
            .filter(|one| one["kind"].as_str() == Some("Pod"));
        pods.map(|pod| (pod["metadata"]["name"].as_str().expect("a name"), pod))
            .collect()
    }

    #[test]
    fn every_pod_has_a_node_and_whole_cpus_of_its_own() {
        let documents = documents(&of(
            "--generators 2 --database --server-cpus 8 --generator-cpus 3 --memory 4Gi --image a/b:1",
        ));
        let pods = pods(&documents);
        let cpus = [
            ("deadheat-database", "8"),
            ("deadheat-generator-1", "3"),
            ("deadheat-generator-2", "3"),
            ("deadheat-server", "8"),
        ];
        assert_eq!(pods.len(), cpus.len());
        for (name, cpus) in cpus {
            let pod = pods[name];
            assert_eq!(pod["apiVersion"].as_str(), Some("v1"));
            let spec = &pod["spec"];
            assert_eq!(spec["restartPolicy"].as_str(), Some("Never"));
            let apart = &spec["affinity"]["podAntiAffinity"];
            let apart = &apart["requiredDuringSchedulingIgnoredDuringExecution"][0];
            assert_eq!(
                apart["topologyKey"].as_str(),
                Some("kubernetes.io/hostname")
            );
            // All of them have the label that keeps them apart.
            let label = "app.kubernetes.io/name";
            let selected = &apart["labelSelector"]["matchLabels"][label];
            assert_eq!(&pod["metadata"]["labels"][label], selected);
            assert_eq!(selected.as_str(), Some("deadheat"));
            let [container] = &spec["containers"].as_vec().expect("containers")[..] else {
                panic!("one container: {pod:?}");
            };
            assert_eq!(container["image"].as_str(), Some("a/b:1"));
            assert_eq!(texts(&container["command"]), ["sleep", "infinity"]);
            // Guaranteed, which CPUs of its own need: requests are limits, and CPUs are whole.
            let resources = &container["resources"];
            assert_eq!(resources["requests"], resources["limits"]);
            assert_eq!(resources["limits"]["cpu"].as_str(), Some(cpus));
            assert_eq!(resources["limits"]["memory"].as_str(), Some("4Gi"));
        }
    }

    #[test]
    fn only_the_servers_pod_may_ask_the_cluster_and_only_for_the_others() {
        let documents = documents(&of("--database"));
        for (name, pod) in pods(&documents) {
            let spec = &pod["spec"];
            let is_server = name == "deadheat-server";
            assert_eq!(
                spec["automountServiceAccountToken"].as_bool(),
                Some(is_server)
            );
            let account = spec["serviceAccountName"].as_str();
            assert_eq!(account, is_server.then_some("deadheat"), "{name}");
        }
        let kind = |kind: &str| {
            let mut all = documents.iter();
            all.find(|one| one["kind"].as_str() == Some(kind))
                .unwrap_or_else(|| panic!("a {kind}"))
        };
        let name = |kind: &Yaml| {
            kind["metadata"]["name"]
                .as_str()
                .expect("a name")
                .to_owned()
        };
        let rules = kind("Role")["rules"].as_vec().expect("rules");
        let [get, exec] = &rules[..] else {
            panic!("two rules: {rules:?}");
        };
        for rule in rules {
            assert_eq!(texts(&rule["apiGroups"]), [""]);
            let others = ["deadheat-generator-1", "deadheat-database"];
            assert_eq!(texts(&rule["resourceNames"]), others);
        }
        assert_eq!(texts(&get["resources"]), ["pods"]);
        assert_eq!(texts(&get["verbs"]), ["get"]);
        assert_eq!(texts(&exec["resources"]), ["pods/exec"]);
        assert_eq!(texts(&exec["verbs"]), ["create", "get"]);
        let binding = kind("RoleBinding");
        assert_eq!(binding["roleRef"]["kind"].as_str(), Some("Role"));
        let role = binding["roleRef"]["name"].as_str();
        assert_eq!(role, Some(name(kind("Role")).as_str()));
        let [subject] = &binding["subjects"].as_vec().expect("subjects")[..] else {
            panic!("one subject: {binding:?}");
        };
        assert_eq!(subject["kind"].as_str(), Some("ServiceAccount"));
        let account = subject["name"].as_str();
        assert_eq!(account, Some(name(kind("ServiceAccount")).as_str()));
    }

    #[test]
    fn a_namespace_is_everywhere_or_nowhere() {
        // A name that YAML would take for a number.
        let text = of("--namespace 1e3");
        for document in documents(&text) {
            let namespace = document["metadata"]["namespace"].as_str();
            assert_eq!(namespace, Some("1e3"), "{document:?}");
        }
        let outside = commands(&text);
        let outside = outside.lines().filter(|line| line.contains("kubectl "));
        for line in outside {
            assert!(line.contains("kubectl --namespace=1e3 "), "{line}");
        }
        let text = of("");
        assert!(!text.contains("namespace:") && !text.contains("--namespace"));
    }

    /// The lines that are commands.
    fn commands(text: &str) -> String {
        let lines = text.lines().filter_map(|line| line.strip_prefix("#   "));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_commands_run_a_session_that_the_command_line_understands() {
        let commands = commands(&of("--generators 2 --database"));
        let run = commands.lines().find(|line| line.contains("deadheat run"));
        let words = shlex::split(run.expect("a session")).expect("a shell's line");
        let inner = words.last().expect("what the pod's shell reads");
        let (_, run) = inner.split_once("exec ").expect("a program");
        let address = "$(kubectl get pod deadheat-database --output=jsonpath={.status.podIP})";
        assert!(run.contains(address), "{run}");
        let run = run
            .replace(address, "127.0.0.1")
            .replace("$POD_IP", "127.0.0.1");
        let words = shlex::split(&run).expect("a shell's line");
        let parsed = Arguments::try_parse_from(words).expect("options of deadheat run");
        let Command::Run(args) = parsed.command else {
            panic!("{run}");
        };
        let elsewhere = args.elsewhere;
        assert_eq!(
            elsewhere.generator,
            ["deadheat-generator-1", "deadheat-generator-2"]
        );
        assert_eq!(
            elsewhere.database.as_deref(),
            Some("deadheat-database=127.0.0.1")
        );
        assert!(elsewhere.address.is_some() && elsewhere.reach.launcher.is_some());
        assert!(
            commands.contains("/deadheat' < '/opt/dead heat'\n"),
            "{commands}"
        );
    }
}
