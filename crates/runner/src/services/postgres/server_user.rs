//! The unprivileged user that runs the server when Deadheat is root: PostgreSQL refuses to run as root.

use std::fs;

use crate::process::{User, is_root};

const CANDIDATES: &[&str] = &["postgres", "nobody"];

/// The user for the server; `None` when Deadheat is not root and the server runs as the same user.
pub(super) fn server_user() -> Result<Option<User>, String> {
    if !is_root() {
        return Ok(None);
    }
    let passwd =
        fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    let found = CANDIDATES.iter().find_map(|name| user_in(&passwd, name));
    found.map(Some).ok_or_else(|| {
        let names = CANDIDATES.join(" or ");
        format!(
            "PostgreSQL refuses to run as root, and none of the users {names} is in /etc/passwd"
        )
    })
}

/// The line of `name` in the text of /etc/passwd (passwd(5)). Not if it is root under another name.
fn user_in(passwd: &str, name: &str) -> Option<User> {
    let mut fields = passwd
        .lines()
        .map(|line| line.split(':'))
        .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?
        .skip(1);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    (uid != 0).then_some(User { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0::/root:/bin/sh\npostgresql:x:7:8::/:\npostgres:x:101:104:a,b:/var:/bin/bash\n";
        assert_eq!(
            user_in(passwd, "postgres"),
            Some(User { uid: 101, gid: 104 })
        );
        assert_eq!(user_in(passwd, "nobody"), None);
        assert_eq!(user_in(passwd, "root"), None);
        assert_eq!(user_in("postgres:x:", "postgres"), None);
    }
}
