//! The documents of the manifest, in YAML. Texts are quoted as in JSON, which YAML reads alike.

use super::{
    args::KubernetesArgs,
    pods::{ADDRESS, LABEL, NAME, Pod, Pods},
};

/// All documents: what the server's pod may do, and the pods.
pub(super) fn all(args: &KubernetesArgs, pods: &Pods) -> Vec<String> {
    let mut documents = vec![account(args), role(args, pods), binding(args)];
    documents.push(pod(args, &pods.server, Asks::Others));
    documents.extend(pods.others().map(|one| pod(args, one, Asks::Nobody)));
    documents
}

/// Whom a pod asks for something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// The other pods, through the cluster.
    Others,
    Nobody,
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn metadata(args: &KubernetesArgs, name: &str) -> String {
    let namespace = args.namespace.as_deref().map(quoted);
    let namespace = namespace.map_or(String::new(), |name| format!("\n  namespace: {name}"));
    format!(
        "metadata:
  name: {name}{namespace}
  labels:
    {LABEL}: {NAME}"
    )
}

fn account(args: &KubernetesArgs) -> String {
    format!(
        "apiVersion: v1
kind: ServiceAccount
{metadata}
automountServiceAccountToken: false
",
        metadata = metadata(args, NAME),
    )
}

/// What `kubectl exec` needs, and `kubectl get` of an address: of these pods, and of no other one.
fn role(args: &KubernetesArgs, pods: &Pods) -> String {
    let names: Vec<String> = pods.others().map(|pod| quoted(&pod.name)).collect();
    format!(
        r#"apiVersion: rbac.authorization.k8s.io/v1
kind: Role
{metadata}
rules:
  - apiGroups: [""]
    resources: ["pods"]
    resourceNames: [{names}]
    verbs: ["get"]
  - apiGroups: [""]
    resources: ["pods/exec"]
    resourceNames: [{names}]
    # Newer versions of kubectl exec send a GET, older ones a POST. Newer clusters want "create" for both.
    verbs: ["create", "get"]
"#,
        metadata = metadata(args, NAME),
        names = names.join(", "),
    )
}

fn binding(args: &KubernetesArgs) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{metadata}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {NAME}
subjects:
  # Of the namespace of this binding.
  - kind: ServiceAccount
    name: {NAME}
",
        metadata = metadata(args, NAME),
    )
}

/// A pod that sleeps until somebody starts something in it.
fn pod(args: &KubernetesArgs, pod: &Pod, asks: Asks) -> String {
    format!(
        r#"apiVersion: v1
kind: Pod
{metadata}
spec:
  restartPolicy: Never
{account}  # It sleeps, which nothing but SIGKILL ends in the first process of a container.
  terminationGracePeriodSeconds: 1
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - labelSelector:
            matchLabels:
              {LABEL}: {NAME}
          topologyKey: kubernetes.io/hostname
  containers:
    - name: {NAME}
      image: {image}
      command: ["sleep", "infinity"]
{environment}      resources:
        requests:
          cpu: "{cpus}"
          memory: {memory}
        limits:
          cpu: "{cpus}"
          memory: {memory}
"#,
        metadata = metadata(args, &pod.name),
        account = account_of(asks),
        image = quoted(&args.image),
        environment = environment(asks),
        cpus = pod.cpus,
        memory = quoted(&args.memory),
    )
}

fn account_of(asks: Asks) -> String {
    match asks {
        Asks::Others => format!(
            "  serviceAccountName: {NAME}
  automountServiceAccountToken: true
"
        ),
        Asks::Nobody => "  automountServiceAccountToken: false\n".to_owned(),
    }
}

/// The address on which servers listen: the names of pods are not in DNS.
fn environment(asks: Asks) -> String {
    match asks {
        Asks::Others => format!(
            "      env:
        - name: {ADDRESS}
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
"
        ),
        Asks::Nobody => String::new(),
    }
}
