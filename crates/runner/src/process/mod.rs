//! Child processes that cannot outlive Deadheat: each one runs under a supervisor process of its own.
