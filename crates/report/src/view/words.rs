//! Words that facts have in common.

use deadheat_model::stack::{DatabaseAccess, Runtime};

/// How code is executed.
pub const fn runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Native => "compiled ahead of time",
        Runtime::Jit => "compiled while it runs",
        Runtime::Interpreted => "interpreted",
    }
}

/// How a stack asks the database.
pub const fn access(access: DatabaseAccess) -> &'static str {
    match access {
        DatabaseAccess::Async => "asynchronous",
        DatabaseAccess::Blocking => "blocking",
        DatabaseAccess::Orm => "object-relational mapper",
    }
}
