//! `deadheat stacks …`: what there is, whether it answers rightly, and how one begins.

mod check;
mod list;
mod new;

use deadheat_shell::exit::{CommandFailure, Exit};

use self::{check::check, list::list, new::eject, new::new};
use crate::options::StacksCommand;

/// `deadheat stacks …`.
pub fn stacks(command: &StacksCommand) -> Result<Exit, CommandFailure> {
    match command {
        StacksCommand::List(args) => list(args),
        StacksCommand::New(args) => new(args),
        StacksCommand::Eject(args) => eject(args),
        StacksCommand::Check(args) => check(args),
    }
}
