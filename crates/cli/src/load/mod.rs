//! `deadheat load`: the load generator on its own.

mod live;
