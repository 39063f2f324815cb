//! Words that facts have in common.

use deadheat_model::stack::{Class, DatabaseIo, DatabaseLayer, Runtime, StackRole};

/// How code is executed.
pub const fn runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Native => "compiled ahead of time",
        Runtime::Jit => "compiled while it runs",
        Runtime::Interpreted => "interpreted",
    }
}

/// How much a framework provides.
pub const fn class(class: Class) -> &'static str {
    match class {
        Class::Platform => "platform",
        Class::Micro => "micro-framework",
        Class::FullStack => "full-stack framework",
    }
}

/// What a stack takes part as, if that is not what most do.
pub const fn role(role: StackRole) -> Option<&'static str> {
    match role {
        StackRole::Stack => None,
        StackRole::Yardstick => Some("yardstick"),
        StackRole::Historic => Some("no longer maintained"),
    }
}

/// What a request does while it waits for the database.
pub const fn io(io: DatabaseIo) -> &'static str {
    match io {
        DatabaseIo::Async => "asynchronous",
        DatabaseIo::Blocking => "blocking",
    }
}

/// What stands between the application and its database driver, if there is anything.
pub const fn layer(layer: DatabaseLayer) -> Option<&'static str> {
    match layer {
        DatabaseLayer::Raw => None,
        DatabaseLayer::Micro => Some("micro-ORM"),
        DatabaseLayer::Orm => Some("ORM"),
    }
}
