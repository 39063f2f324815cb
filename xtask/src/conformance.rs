//! Every stack and variant, every workload and load point, every rule. A stack that cannot run here is a failure.

use crate::steps::{Steps, deadheat};

pub(crate) fn check(steps: &mut Steps) {
    steps.run(
        "conformance of every stack",
        deadheat(&["stacks", "check", "--strict"]),
    );
}
