//! A [`Document`](crate::Document) as text, as Markdown and as a page.

pub mod html;
mod markdown;
pub mod ratios;
mod text;
