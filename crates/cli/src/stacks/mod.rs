//! `deadheat stacks …`: what there is, whether it answers rightly, and how one begins.

mod check;
mod findings;
mod list;
mod new;
mod row;
mod skeletons;
mod table;

pub(crate) use self::{check::check, list::list, new::new};
