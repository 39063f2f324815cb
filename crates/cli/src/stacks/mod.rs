//! `deadheat stacks …`: what there is, and whether it answers rightly.

mod check;
mod findings;
mod list;
mod table;

pub(crate) use self::{check::check, list::list};
