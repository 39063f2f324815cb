//! `deadheat man`: manual pages, made from the help.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::{Command as Process, Stdio},
};

use clap::{Command, CommandFactory};
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};
use deadheat_model::figure::counted;
use deadheat_runner::files::write_whole;
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    output,
};

use crate::args::{Arguments, ManArgs};

pub(crate) fn man(args: &ManArgs) -> Result<Exit, CommandFailure> {
    let pages =
        pages().map_err(|error| CommandFailure::no_result(format!("making pages: {error}")))?;
    let Some(folder) = &args.folder else {
        let whole = pages.last().map_or(&[][..], |(_, page)| page);
        if output::is_terminal() {
            if is_shown(whole) {
                return Ok(Exit::Fine);
            }
            output::note(ADVICE);
        }
        output::bytes(whole)?;
        return Ok(Exit::Fine);
    };
    write(folder, &pages).map_err(|error| {
        CommandFailure::no_result(format!(
            "writing pages to {}: {error}; name a folder that you may write in",
            folder.display()
        ))
    })?;
    let count = counted(pages.len(), "page");
    output::note(&format!("written: {count} in {}", folder.display()));
    Ok(Exit::Fine)
}

/// For a terminal without a program that shows manual pages.
const ADVICE: &str = "This is the source of a manual page (roff), because man(1) could not show it. Without it, read \
                      deadheat --help, and deadheat COMMAND --help.";

/// Shows a page in the terminal, as `man deadheat` would if it were installed. Whether that was possible.
fn is_shown(page: &[u8]) -> bool {
    let mut man = Process::new("man");
    let Ok(mut man) = man.args(["-l", "-"]).stdin(Stdio::piped()).spawn() else {
        return false;
    };
    // The reader may quit the pager before the end of the page.
    let written = man.stdin.take().map(|mut input| input.write_all(page));
    drop(written);
    man.wait().is_ok_and(|status| status.success())
}

fn write(folder: &Path, pages: &[(String, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut pages = pages.iter();
    pages.try_for_each(|(name, page)| write_whole(&folder.join(name), page))
}

/// Names and contents of all pages; the one of deadheat itself is the last.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = whole(Arguments::command().disable_help_subcommand(true));
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

/// Shows the options that `-h` leaves out, because otherwise the page would leave out their help.
fn whole(command: Command) -> Command {
    command
        .mut_args(|argument| argument.hide_short_help(false))
        .mut_subcommands(whole)
}

fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for inner in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        collect(inner, pages)?;
    }
    let man = Man::new(command.clone());
    let file = man.get_filename();
    let name = file.trim_end_matches(".1");
    // With an empty date, which the library would leave out.
    let version = env!("CARGO_PKG_VERSION");
    let title = format!(".TH {name} 1 \"\" \"Deadheat {version}\" \"Deadheat manual\"\n");
    let mut page = title.into_bytes();
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    page.extend(section("SYNOPSIS", usage.trim_start_matches("Usage: ")));
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let notes = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    if let Some(notes) = notes {
        page.extend(section("NOTES", &notes.to_string()));
    }
    pages.push((file, page));
    Ok(())
}

/// A section of text, in which lines that begin with spaces are a table.
fn section(title: &str, text: &str) -> Vec<u8> {
    let mut roff = Roff::default();
    roff.control("SH", [title]);
    let mut is_table = false;
    for line in text.lines() {
        let starts_table = line.starts_with(' ');
        if starts_table != is_table {
            roff.control(if starts_table { "nf" } else { "fi" }, []);
            is_table = starts_table;
        }
        if line.is_empty() || line.starts_with("Exit status") {
            roff.control("PP", []);
        }
        if !line.is_empty() {
            roff.text([roman(line)]);
        }
    }
    if is_table {
        roff.control("fi", []);
    }
    roff.render().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let pages = pages().unwrap();
        let page = |name: &str| {
            let found = pages.iter().find(|(one, _)| one == name);
            let (_, page) = found.unwrap_or_else(|| panic!("{name}"));
            String::from_utf8(page.clone()).unwrap()
        };
        assert!(page("deadheat.1").contains("deadheat\\-run(1)"));
        assert!(page("deadheat-run.1").contains("whole\\-budget"));
        assert!(page("deadheat-stacks-check.1").contains("may\\-lack"));
        let compare = page("deadheat-compare.1");
        assert!(compare.contains(".nf") && compare.contains("with a warning for each difference"));
        assert!(compare.contains("compare [OPTIONS] <A> <B>"), "{compare}");
        assert_eq!(pages.last().unwrap().0, "deadheat.1");
        assert!(pages.iter().all(|(name, _)| !name.contains("__")));
    }
}
