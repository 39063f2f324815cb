//! Installs what tests need, before they run: `deadheat setup` for Debian's packages, npm for what drives the browser.
//! Stacks fetch their dependencies when they are checked, while something else computes.
//! What cannot be had is no failure here: the steps that miss it say so.

use std::process::Command;

use crate::{
    browser,
    project::{deadheat_with_quick_builds, root},
    steps::Steps,
};

/// What tests need beside what the stacks do: a browser with a font, PHP's command line and Bundler for the skeletons of
/// `stacks new`, and the load generators of `cargo xtask peers`.
const PACKAGES: [&str; 8] = [
    "apache2-utils",
    "bundler",
    "chromium",
    "fonts-liberation",
    "php-cli",
    "ruby",
    "ruby-dev",
    "wrk",
];

/// Runs the set-up. What fails is listed by the steps that need it.
pub(crate) fn set_up(steps: &Steps) {
    let mut command = deadheat_with_quick_builds(&["setup", "--yes", "--no-fetch"]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    steps.attempt("set-up", command);
    let mut command = Command::new("npm");
    // From its own folder: with `--prefix`, npm reads no system-wide settings (/usr/etc/npmrc), and a certificate may be
    // there.
    command
        .args([
            "ci",
            "--loglevel=error",
            "--no-progress",
            "--no-audit",
            "--no-fund",
        ])
        .current_dir(root().join(browser::FOLDER));
    steps.attempt("set-up of what drives the browser", command);
}
