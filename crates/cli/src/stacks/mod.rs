//! `deadheat stacks …`: what there is, and whether it answers rightly.

mod check;
mod list;

pub(crate) use self::{check::check, list::list};
