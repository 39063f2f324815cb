//! The command line of `deadheat kubernetes-manifest`, as it is typed.

use clap::Args;

/// What `deadheat kubernetes-manifest` is asked to do.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Example: deadheat kubernetes-manifest --generators 2 --database > deadheat.yaml\n\
                  The file begins with the commands that use it."
)]
pub(crate) struct KubernetesArgs {
    /// Pods that load the servers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) generators: u32,
    /// A pod for PostgreSQL, too
    #[arg(long)]
    pub(crate) database: bool,
    /// CPUs of the pod with the servers, and of the one with PostgreSQL
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) server_cpus: u32,
    /// CPUs of each pod that loads the servers
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) generator_cpus: u32,
    /// Memory of each pod
    #[arg(long, value_name = "SIZE", default_value = "8Gi", value_parser = memory)]
    pub(crate) memory: String,
    /// The image of all pods, which should contain the requirements of the stacks
    #[arg(long, value_name = "IMAGE", default_value = "debian:12", value_parser = image)]
    pub(crate) image: String,
    /// The namespace [default: the one that kubectl uses]
    #[arg(long, value_name = "NAME", value_parser = namespace)]
    pub(crate) namespace: Option<String>,
}

/// Units of a quantity of bytes, as Kubernetes has them. "m" would be thousandths.
const UNITS: [&str; 9] = ["", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"];

/// "8Gi", "512Mi": a size in bytes, more than none.
fn memory(text: &str) -> Result<String, String> {
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, ""),
    };
    let number = digits.parse::<u32>().unwrap_or_default();
    if number == 0 || !UNITS.contains(&unit) {
        return Err("write it like 8Gi or 512Mi".to_owned());
    }
    Ok(text.to_owned())
}

/// A reference to an image: "debian:12", "registry.example:5000/name@sha256:…".
fn image(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) || !text.chars().all(fits) {
        return Err("write it like debian:12 or registry.example/name:tag".to_owned());
    }
    Ok(text.to_owned())
}

/// The name of a namespace: a label of DNS (RFC 1123 §2.1) in lower case.
fn namespace(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = |c: char| c == '-';
    let length = (1..=63).contains(&text.len());
    if !length || !text.chars().all(fits) || text.starts_with(ends) || text.ends_with(ends) {
        return Err("a namespace has at most 63 lower-case letters, digits and -".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubernetes_would_refuse_is_refused() {
        for right in ["8Gi", "512Mi", "2G", "1000000000"] {
            assert_eq!(memory(right), Ok(right.to_owned()));
        }
        for wrong in [
            "", "Gi", "0Gi", "512m", "8GB", "8 Gi", "-1Gi", "1.5Gi", "8Gi\n",
        ] {
            assert!(memory(wrong).is_err(), "{wrong:?}");
        }
        for right in ["debian:12", "r.example:5000/a/b-c_d:1@sha256:00ff"] {
            assert_eq!(image(right), Ok(right.to_owned()));
        }
        for wrong in ["", "a b", "a\"b", "a\n", "-x", "a'", "a#b", "ä"] {
            assert!(image(wrong).is_err(), "{wrong:?}");
        }
        for right in ["a", "team-1"] {
            assert_eq!(namespace(right), Ok(right.to_owned()));
        }
        for wrong in ["", "A", "a_b", "-a", "a-", "a.b", &"a".repeat(64)] {
            assert!(namespace(wrong).is_err(), "{wrong:?}");
        }
    }
}
