//! `deadheat stacks …`: what there is, whether it answers rightly, and how one begins.

mod check;
mod list;
mod new;
mod skeletons;

pub(crate) use self::{check::check, list::list, new::new};
