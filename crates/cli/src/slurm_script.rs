//! `deadheat slurm-script`: a script for sbatch that runs a session on the nodes of its job.

use std::env;

use clap::Parser as _;
use deadheat_runner::prepare::in_shell;

use crate::{
    args::{Arguments, SlurmScriptArgs},
    exit::{Exit, Failure},
    output,
};

/// Prints a script for sbatch.
pub(crate) fn script(args: &SlurmScriptArgs) -> Result<Exit, Failure> {
    let mut command = vec![
        "deadheat".to_owned(),
        "run".to_owned(),
        "--slurm".to_owned(),
    ];
    command.extend(args.options.iter().cloned());
    // Now, not when the job begins in an hour.
    Arguments::try_parse_from(&command).map_err(|error| {
        Failure::usage(format!("after --, the options of `deadheat run`: {error}"))
    })?;
    let program = env::current_exe().map_err(Failure::nothing)?;
    command[0] = program.display().to_string();
    let folder = env::current_dir().map_err(Failure::nothing)?;
    output::data(&text(args, &folder.display().to_string(), &command))?;
    Ok(Exit::Fine)
}

fn text(args: &SlurmScriptArgs, folder: &str, command: &[String]) -> String {
    let partition = args.partition.as_ref().map_or(String::new(), |name| {
        format!("#SBATCH --partition={name}\n")
    });
    format!(
        "#!/bin/bash\n\
         # The servers run on the first node of the job; the others load them, and one has the database.\n\
         #SBATCH --job-name=deadheat\n\
         #SBATCH --nodes={}\n\
         #SBATCH --ntasks-per-node=1\n\
         #SBATCH --exclusive\n\
         #SBATCH --time={}\n\
         {partition}\
         # Sends Ctrl-C to Deadheat early enough for its report.\n\
         #SBATCH --signal=B:INT@60\n\
         cd {} || exit\n\
         exec {}\n",
        args.nodes,
        args.time,
        in_shell(&[folder.to_owned()]),
        in_shell(command)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_the_options_and_no_partition_that_nobody_named() {
        let args = |partition: Option<&str>| SlurmScriptArgs {
            nodes: 4,
            time: "30".to_owned(),
            partition: partition.map(str::to_owned),
            options: Vec::new(),
        };
        let command = ["/opt/dead heat", "run", "--stack", "rust-*"].map(str::to_owned);
        let text = super::text(&args(None), "/home/me", &command);
        assert!(
            text.contains("#SBATCH --nodes=4\n") && !text.contains("partition"),
            "{text}"
        );
        assert!(
            text.ends_with("exec '/opt/dead heat' run --stack 'rust-*'\n"),
            "{text}"
        );
        let text = super::text(&args(Some("fast")), "/home/me", &command);
        assert!(text.contains("#SBATCH --partition=fast\n#"), "{text}");
    }
}
