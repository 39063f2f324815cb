//! The commands that run a session in the pods, as comments of the manifest.

use deadheat_runner::prepare::in_shell;

use super::{
    args::KubernetesArgs,
    pods::{ADDRESS, LABEL, NAME, Pods},
};

/// The file that the manifest is written to.
const FILE: &str = "deadheat.yaml";
/// Where the session runs in the server's pod, and the stacks of a checkout are.
const PROJECT: &str = "/deadheat";
/// Where programs are in the server's pod.
const PROGRAMS: &str = "/usr/local/bin";

/// The commands with what has to be known about them. Lines that are commands are indented.
pub(super) fn comment(args: &KubernetesArgs, pods: &Pods, program: &str) -> String {
    let kubectl = match &args.namespace {
        Some(name) => format!("kubectl --namespace={name}"),
        None => "kubectl".to_owned(),
    };
    let server = &pods.server.name;
    let quoted = |text: &str| in_shell(&[text.to_owned()]);
    let into_server = format!("{kubectl} exec --stdin {server} -- sh -c");
    // Not `kubectl cp`, which copies a link as a link.
    let written = |name: &str| {
        quoted(&format!(
            "cat > {PROGRAMS}/{name} && chmod 755 {PROGRAMS}/{name}"
        ))
    };
    format!(
        "# Pods for a session of Deadheat: servers, generators and database on nodes of their own.\n\
         # The commands below expect this file as {FILE}.\n\
         #\n\
         # The image ({image}) must have sh and tar, and the requirements of the stacks: toolchains, and PostgreSQL for the\n\
         # database. In an image of Debian, --setup installs the toolchains first, and PostgreSQL is downloaded.\n\
         #\n\
         # Pods get CPUs of their own on nodes whose kubelet has the static CPU manager policy. Elsewhere the number is\n\
         # a limit of CPU time, which stops all threads for a while when it is used up; `deadheat doctor` shows it.\n\
         #\n\
         # 1. Start the pods, and wait for them. One that stays Pending found no free node.\n\
         #   {kubectl} apply --filename={FILE}\n\
         #   {kubectl} wait pod --selector={LABEL}={NAME} --for=condition=Ready --timeout=10m\n\
         #\n\
         # 2. Copy kubectl and Deadheat, both for Linux, and the nodes' processors. The stacks are part of Deadheat.\n\
         #   {into_server} {} < \"$(command -v kubectl)\"\n\
         #   {into_server} {} < {}\n\
         # Only for the stacks of a checkout: in its folder, copy it without the files that git ignores.\n\
         #   git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | {into_server} {}\n\
         #\n\
         # 3. Run the session. Add options, such as --stack and --workload.\n\
         #   {kubectl} exec --stdin --tty {server} -- sh -c {}\n\
         #\n\
         # 4. Fetch the results.\n\
         #   {kubectl} cp {server}:{PROJECT}/results results\n\
         #\n\
         # 5. Delete everything.\n\
         #   {kubectl} delete --filename={FILE}\n",
        written("kubectl"),
        written("deadheat"),
        quoted(program),
        quoted(&format!("mkdir -p {PROJECT} && tar -x -C {PROJECT}")),
        quoted(&format!(
            "mkdir -p {PROJECT} && cd {PROJECT} && exec {}",
            session(pods)
        )),
        image = args.image,
    )
}

/// The session, for a shell in the server's pod. There, kubectl finds the cluster and the namespace by the pod's
/// account. Names of pods are not in DNS.
fn session(pods: &Pods) -> String {
    let mut words = "deadheat run --launcher kubectl".to_owned();
    for generator in &pods.generators {
        words.push_str(&format!(" --generator {}", generator.name));
    }
    if let Some(database) = &pods.database {
        let name = &database.name;
        words.push_str(&format!(
            " --database \"{name}=$(kubectl get pod {name} --output=jsonpath={{.status.podIP}})\""
        ));
    }
    words.push_str(&format!(" --address \"${ADDRESS}\" --setup"));
    words
}
