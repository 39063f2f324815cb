//! The tables that servers read: rows of an id and a text that are the same everywhere.

use deadheat_model::workload::Table;
use postgres::{Client, Error};

/// Rows of the table `users`, with the ids 1 to this.
pub const USERS: i32 = 1_000;

const NAMES: &[&str] = &[
    "ada", "grace", "josé", "linus", "o'neil", "zoë", "barbara", "ken", "łukasz", "margaret",
    "李娜", "dennis",
];

/// In no order, with what a template must escape and what a careless one mistakes: markup, quotes, an ampersand that
/// looks like an entity, small letters between capitals, letters beyond ASCII and beyond the basic plane.
const FORTUNES: &[&str] = &[
    "Two clocks that agree are one clock.",
    "A dead heat is a result, too.",
    "the fastest request is the one that nobody sends",
    "Measure once and you know a number; measure twice and you know that it moves.",
    "<script>document.title = \"not escaped\"</script>",
    "Ask \"compared to what?\", then ask 'how often?'",
    "Caches & queues: both are &lt;fast&gt; until they are full.",
    "Ärger vergeht, Latenz bleibt.",
    "急がば回れ",
    "An average river is a metre deep.",
    "Zero errors are easy at zero requests.",
    "🐎 Close, but no winner.",
];

/// The email that a user has before anybody changes it. Some hold an apostrophe, a plus or letters beyond ASCII, so
/// that a stack that mistreats text is found out; none needs more than JSON's ordinary escapes.
fn email(id: i32) -> String {
    let name = NAMES[(id - 1).rem_euclid(NAMES.len() as i32) as usize];
    let tag = if id % 7 == 0 { "+news" } else { "" };
    format!("{name}.{id}{tag}@example.org")
}

/// The column beside the id.
fn column(table: Table) -> &'static str {
    match table {
        Table::Users => "email",
        Table::Fortune => "message",
        Table::Items => "name",
        Table::World => "randomnumber",
    }
}

/// Makes and fills the tables, and lets `roles` read them, which are separated by commas.
pub(super) fn seed(client: &mut Client, roles: &str) -> Result<(), Error> {
    let fortunes = FORTUNES.iter().map(|text| (*text).to_owned());
    let texts: [(Table, Vec<String>); 2] = [
        (Table::Users, (1..=USERS).map(email).collect()),
        (Table::Fortune, fortunes.collect()),
    ];
    for (table, texts) in texts {
        let column = column(table);
        let ids: Vec<i32> = (1..=texts.len() as i32).collect();
        client.batch_execute(&format!(
            "create table {table} (id integer primary key, {column} text not null)"
        ))?;
        client.execute(
            &format!("insert into {table} select * from unnest($1::integer[], $2::text[])"),
            &[&ids, &texts],
        )?;
        client.batch_execute(&format!(
            "grant select on {table} to {roles}; analyze {table}"
        ))?;
    }
    Ok(())
}

/// The first `count` rows by id.
pub(super) fn first(
    client: &mut Client,
    table: Table,
    count: u32,
) -> Result<Vec<(i32, String)>, Error> {
    let column = column(table);
    let statement = format!("select id, {column} from {table} order by id limit $1");
    let rows = client.query(&statement, &[&i64::from(count)])?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// Changes the text of a row; how many there were.
pub(super) fn change(client: &mut Client, table: Table, id: i32, text: &str) -> Result<u64, Error> {
    let column = column(table);
    let statement = format!("update {table} set {column} = $2 where id = $1");
    client.execute(&statement, &[&id, &text])
}

/// Adds a row.
pub(super) fn add(client: &mut Client, table: Table, id: i32, text: &str) -> Result<u64, Error> {
    let statement = format!("insert into {table} values ($1, $2)");
    client.execute(&statement, &[&id, &text])
}

/// Removes a row; how many there were.
pub(super) fn remove(client: &mut Client, table: Table, id: i32) -> Result<u64, Error> {
    client.execute(&format!("delete from {table} where id = $1"), &[&id])
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

    #[test]
    fn fortunes_are_in_no_order_and_hold_what_a_template_must_escape() {
        let all: BTreeSet<&str> = FORTUNES.iter().copied().collect();
        assert_eq!(all.len(), 12);
        assert!(!FORTUNES.is_sorted());
        let text = FORTUNES.concat();
        for needed in ["<script>", "&lt;", " & ", "\"", "'", "急", "🐎"] {
            assert!(text.contains(needed), "{needed}");
        }
    }
}
