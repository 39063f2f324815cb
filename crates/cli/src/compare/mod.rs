//! `deadheat compare`: B against A.

pub(crate) mod args;
mod live;
mod resolve;

use self::{args::CompareArgs, resolve::Comparands};
use crate::exit::{Exit, Failure};

pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let versus = match resolve::resolve(args)? {
        Comparands::Sessions { a, b } => {
            return Err(Failure::nothing(format!(
                "comparing the sessions {} and {} is not built yet",
                a.display(),
                b.display()
            )));
        }
        Comparands::Live(live) => live::measure(&live, args)?,
    };
    Ok(match versus {
        Some(_) | None => Exit::Fine,
    })
}
