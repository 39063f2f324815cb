//! Every stack and variant, every workload and load point, every rule. A stack that cannot run here is a failure, unless
//! it is named as one that may lack something.

use crate::steps::{Steps, deadheat};

/// Stacks that may lack something here: `deadheat stacks check --may-lack`.
#[derive(clap::Args)]
pub(crate) struct MayLack {
    /// Stacks that may be unavailable here, or lack what they fetch from their registry; repeatable
    #[arg(long, value_name = "GLOB")]
    may_lack: Vec<String>,
}

pub(crate) fn check(steps: &mut Steps, may_lack: &MayLack) {
    let mut args = vec!["stacks", "check", "--strict"];
    for glob in &may_lack.may_lack {
        args.extend(["--may-lack", glob]);
    }
    steps.run("conformance of every stack", deadheat(&args));
}
