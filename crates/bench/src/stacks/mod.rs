//! `deadheat stacks …`: what there is, whether it answers rightly, and how one begins.

mod check;
mod list;
mod new;

use deadheat_shell::exit::{Exit, Failure};

use self::{check::check, list::list, new::eject, new::new};
use crate::options::StacksCommand;

/// `deadheat stacks …`.
pub fn stacks(command: &StacksCommand) -> Result<Exit, Failure> {
    match command {
        StacksCommand::List(args) => list(args),
        StacksCommand::New(args) => new(args),
        StacksCommand::Eject(args) => eject(args),
        StacksCommand::Check(args) => check(args),
    }
}
