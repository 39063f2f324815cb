//! What keeps Debian's packages from running services.
//!
//! A package with a service (nginx, php-fpm, postgresql) starts it when it is installed, and has it started at every boot.
//! `postgresql` also makes a database cluster. All that would run during measurements. So while packages are installed
//! there is a `/usr/sbin/policy-rc.d` that forbids services to start: invoke-rc.d(8) and deb-systemd-invoke(1p) ask it. A
//! file in `/etc/postgresql-common/createcluster.d` turns the cluster off (pg_createcluster(1)). After the packages, what
//! they enabled is disabled again with systemctl(1): the links below `/etc/systemd/system` that are younger than the
//! policy. In the end both files are deleted. Whatever was there before is left alone; and where somebody else has a
//! policy, as container images have, it is theirs to say what runs.

use std::fs;

use super::Host;

/// Stands in the files that setup makes for a while, so that one that was left behind is known again.
const MARK: &str = "made by deadheat setup";
const POLICY_FILE: &str = "/usr/sbin/policy-rc.d";
const CLUSTER_FILE: &str = "/etc/postgresql-common/createcluster.d/deadheat.conf";

/// A file that is there while packages are installed.
pub(super) struct Guard {
    pub(super) file: &'static str,
    /// Makes it.
    pub(super) script: String,
    pub(super) why: &'static str,
    /// Runs after the packages, while the file is still there.
    pub(super) afterwards: Option<Afterwards>,
}

/// What has to be undone after packages were installed.
pub(super) struct Afterwards {
    pub(super) script: String,
    pub(super) why: &'static str,
}

/// Services do not start, neither now nor at the next boot.
pub(super) fn no_services() -> Guard {
    Guard {
        file: POLICY_FILE,
        script: format!(
            "printf \"#!/bin/sh\\n# {MARK}\\nexit 101\\n\" > {POLICY_FILE} && chmod 755 {POLICY_FILE}"
        ),
        why: "packages must not start services",
        afterwards: Some(Afterwards {
            script: format!(
                "! command -v systemctl > /dev/null || \
                 find /etc/systemd/system -type l -path \"*.wants/*\" -newer {POLICY_FILE} -printf \"%f\\n\" | \
                 sort -u | xargs -r systemctl disable"
            ),
            why: "services that came along must not start at boot either (`systemctl enable NAME` for one that you want)",
        }),
    }
}

/// PostgreSQL's package makes no cluster.
pub(super) fn no_cluster() -> Guard {
    let folder = CLUSTER_FILE
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    Guard {
        file: CLUSTER_FILE,
        script: format!(
            "mkdir -p {folder} && printf \"# {MARK}\\ncreate_main_cluster = false\\n\" > {CLUSTER_FILE}"
        ),
        why: "PostgreSQL's package must not make and start a cluster of its own",
        afterwards: None,
    }
}

/// Whether somebody else's policy says already which services may start.
pub(super) fn has_foreign_policy(host: &Host<'_>) -> bool {
    read_system(host, POLICY_FILE).is_some_and(|text| !text.contains(MARK))
}

/// Files that a setup left behind when it was killed.
pub(super) fn leftovers(host: &Host<'_>) -> Vec<String> {
    let ours = |file: &&str| read_system(host, file).is_some_and(|text| text.contains(MARK));
    [POLICY_FILE, CLUSTER_FILE]
        .into_iter()
        .filter(ours)
        .map(str::to_owned)
        .collect()
}

/// What stands in a file of the system; an empty text when it is there and cannot be read.
fn read_system(host: &Host<'_>, file: &str) -> Option<String> {
    let path = host.system.join(file.trim_start_matches('/'));
    path.exists()
        .then(|| fs::read_to_string(path).unwrap_or_default())
}
