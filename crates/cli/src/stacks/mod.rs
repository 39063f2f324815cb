//! `deadheat stacks …`: what there is, whether it answers rightly, and how one begins.

mod check;
mod eject;
mod findings;
mod list;
mod name;
mod new;
mod row;
mod skeletons;
mod table;

pub(crate) use self::{check::check, eject::eject, list::list, new::new};
