//! Where `/proc` and `/sys` are: below `/`, or planted by a test.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// A folder with `proc` and `sys` in it. Paths are relative to it.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// This machine's.
    pub fn here() -> Self {
        Self::at("/")
    }

    /// Another folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// A file's text without the blanks around it; `None` where it cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        Some(self.whole(path)?.trim().to_owned())
    }

    /// A file's text; `None` where it cannot be read.
    pub(super) fn whole(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.0.join(path)).ok()
    }

    /// A file's number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// The names in a folder, in their order; none where there is no such folder.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder));
        let entries = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// The folders of the CPUs (`sys/devices/system/cpu/cpu0`, …).
    pub(super) fn cpu_folders(&self) -> Vec<String> {
        let folder = "sys/devices/system/cpu";
        let is_cpu = |name: &String| {
            let number = name.strip_prefix("cpu");
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        let names = self.names(folder).into_iter().filter(is_cpu);
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    /// The value of `key` in a file of lines `key value` or `key: value`, up to the next blank.
    pub(super) fn value(&self, path: &str, key: &str) -> Option<u64> {
        let text = self.whole(path)?;
        text.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let name = words.next()?.trim_end_matches(':');
            (name == key).then(|| words.next()?.parse().ok())?
        })
    }

    /// What virtual machine this is; `None` where nothing says that it is one.
    pub(super) fn hypervisor(&self) -> Option<String> {
        let release = self.text("proc/sys/kernel/osrelease").unwrap_or_default();
        if release.to_lowercase().contains("microsoft") {
            return Some("WSL".to_owned());
        }
        if let Some(kind) = self.text("sys/hypervisor/type") {
            return Some(kind);
        }
        let dmi = |name: &str| self.text(&format!("sys/class/dmi/id/{name}"));
        let product = [dmi("sys_vendor"), dmi("product_name")];
        let product: Vec<String> = product.into_iter().flatten().collect();
        let product = product.join(" ");
        let flags = self.whole("proc/cpuinfo").unwrap_or_default();
        let flagged = flags
            .lines()
            .find(|line| line.starts_with("flags"))
            .is_some_and(|line| line.split(' ').any(|flag| flag == "hypervisor"));
        // Processors without the flag (ARM).
        const VIRTUAL: [&str; 8] = [
            "QEMU",
            "KVM",
            "VMware",
            "VirtualBox",
            "Virtual Machine",
            "Google Compute Engine",
            "Parallels",
            "BHYVE",
        ];
        let virtual_product = VIRTUAL.iter().any(|name| product.contains(name));
        match (flagged || virtual_product, product.is_empty()) {
            (false, _) => None,
            (true, true) => Some("of unknown make".to_owned()),
            (true, false) => Some(product),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Planted;

    #[test]
    fn a_virtual_machine_is_recognised_in_three_ways() {
        let of =
            |path: &str, text: &str| Planted::empty().with(path, text).world().root.hypervisor();
        assert_eq!(of("proc/cpuinfo", "flags\t\t: fpu vme\n"), None);
        let flag = of("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n");
        assert_eq!(flag.as_deref(), Some("of unknown make"));
        let vendor = of("sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(vendor.as_deref(), Some("QEMU"));
        assert_eq!(of("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"), None);
        let wsl = of(
            "proc/sys/kernel/osrelease",
            "5.15.1-microsoft-standard-WSL2\n",
        );
        assert_eq!(wsl.as_deref(), Some("WSL"));
    }
}
