//! The table `users`: 1,000 rows that are the same everywhere.

use postgres::{Client, Error};

/// Rows of the table, with the ids 1 to this.
pub const USERS: i32 = 1_000;

const NAMES: &[&str] = &[
    "ada", "grace", "josé", "linus", "o'neil", "zoë", "barbara", "ken", "łukasz", "margaret",
    "李娜", "dennis",
];

/// The email that a user has before anybody changes it. Some hold an apostrophe, a plus or letters beyond ASCII, so
/// that a stack that mistreats text is found out; none needs more than JSON's ordinary escapes.
fn email(id: i32) -> String {
    let name = NAMES[(id - 1).rem_euclid(NAMES.len() as i32) as usize];
    let tag = if id % 7 == 0 { "+news" } else { "" };
    format!("{name}.{id}{tag}@example.org")
}

/// Makes and fills the table, and lets `roles` read it, which are separated by commas.
pub(super) fn seed(client: &mut Client, roles: &str) -> Result<(), Error> {
    let ids: Vec<i32> = (1..=USERS).collect();
    let emails: Vec<String> = ids.iter().map(|id| email(*id)).collect();
    client.batch_execute("create table users (id integer primary key, email text not null)")?;
    client.execute(
        "insert into users select * from unnest($1::integer[], $2::text[])",
        &[&ids, &emails],
    )?;
    client.batch_execute(&format!("grant select on users to {roles}; analyze users"))
}

/// The first `count` rows by id.
pub(super) fn first(client: &mut Client, count: u32) -> Result<Vec<(i32, String)>, Error> {
    let rows = client.query(
        "select id, email from users order by id limit $1",
        &[&i64::from(count)],
    )?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// Changes a row; how many there were.
pub(super) fn change(client: &mut Client, id: i32, email: &str) -> Result<u64, Error> {
    client.execute("update users set email = $2 where id = $1", &[&id, &email])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn emails_differ_and_the_first_ten_hold_what_stacks_may_get_wrong() {
        let all: BTreeSet<String> = (1..=USERS).map(email).collect();
        assert_eq!(all.len(), USERS as usize);
        let first = (1..=10).map(email).collect::<Vec<_>>().join(" ");
        assert!(
            first.contains("josé") && first.contains('\'') && first.contains('+'),
            "{first}"
        );
        assert!(
            first.starts_with("ada.1@example.org grace.2@example.org"),
            "{first}"
        );
    }
}
