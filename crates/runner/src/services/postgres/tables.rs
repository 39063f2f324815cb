//! The tables that servers read: rows of an id and a text that are the same everywhere. And the tables that they write, one
//! for each server, in the schema of its role's name, which is first in PostgreSQL's search path (`"$user", public`), so that
//! every server calls them by the same names: items, and the table world of TechEmpower's Framework Benchmarks
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/blob/master/toolset/databases/postgres/create-postgres.sql>). That suite
//! has each of its tables a second time with a capital in its name, which is a view here.

use std::ops::RangeInclusive;

use deadheat_model::workload::Table;
use postgres::{Client, Error};

use super::admin::quoted;

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

/// The column other than the id.
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

/// Items after a reset, with the ids 1 to this.
pub const SEEDED: i32 = 60_000;
/// What the rows are copied from.
const SEEDS: &str = "public.items_seed";

const KINDS: &[&str] = &[
    "Lamp", "Chair", "Kettle", "Notebook", "Bicycle", "Umbrella", "Clock", "Backpack", "Mirror",
];
const COLOURS: &[&str] = &["red", "green", "blue", "white", "black", "yellow", "grey"];

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its number.
    pub id: i32,
    /// What it is.
    pub name: String,
    /// What it costs, in cents.
    pub price: i32,
}

impl Item {
    /// The one with this id after a reset. Its name has ASCII letters alone, so that all stacks write it in the same way.
    pub fn seeded(id: i32) -> Self {
        let word = |list: &[&'static str], index: i32| list[index as usize % list.len()];
        let (kind, colour) = (word(KINDS, id), word(COLOURS, id / KINDS.len() as i32));
        Self {
            id,
            name: format!("{kind} {colour} {id}"),
            price: (id * 37) % 100_000,
        }
    }
}

/// What a table holds of what was written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemRows {
    /// Rows with ids above the seeded ones.
    pub created: u64,
    /// Seeded rows that are gone.
    pub deleted: u64,
}

/// Makes the table of each role, empty, and what they are filled from.
pub(super) fn make_items(client: &mut Client, roles: &[String]) -> Result<(), Error> {
    let items: Vec<Item> = (1..=SEEDED).map(Item::seeded).collect();
    let ids: Vec<i32> = items.iter().map(|item| item.id).collect();
    let names: Vec<&str> = items.iter().map(|item| &*item.name).collect();
    let prices: Vec<i32> = items.iter().map(|item| item.price).collect();
    client.batch_execute(&format!(
        "create table {SEEDS} (id integer primary key, name text not null, price integer not null)"
    ))?;
    client.execute(
        &format!(
            "insert into {SEEDS} select * from unnest($1::integer[], $2::text[], $3::integer[])"
        ),
        &[&ids, &names, &prices],
    )?;
    for role in roles {
        let (table, role) = (items_of(role), quoted(role));
        client.batch_execute(&format!(
            "create schema if not exists {role}; \
             create table {table} (id integer generated by default as identity (start with {start}) primary key, \
             name text not null, price integer not null); \
             grant usage on schema {role} to {role}; \
             grant select, insert, update, delete on {table} to {role}; \
             grant usage, select on all sequences in schema {role} to {role}",
            start = SEEDED + 1
        ))?;
    }
    Ok(())
}

/// A role's table.
fn items_of(role: &str) -> String {
    format!("{}.items", quoted(role))
}

/// Fills the table as it was at first.
pub(super) fn reset_items(client: &mut Client, role: &str) -> Result<(), Error> {
    let table = items_of(role);
    client.batch_execute(&format!(
        "truncate {table} restart identity; insert into {table} select * from {SEEDS}; analyze {table}"
    ))
}

/// Up to `limit` items with ids above `after`, by id.
pub(super) fn item_page(
    client: &mut Client,
    role: &str,
    after: i32,
    limit: u32,
) -> Result<Vec<Item>, Error> {
    let table = items_of(role);
    let statement =
        format!("select id, name, price from {table} where id > $1 order by id limit $2");
    let rows = client.query(&statement, &[&after, &i64::from(limit)])?;
    let item = |row: &postgres::Row| {
        Ok(Item {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            price: row.try_get(2)?,
        })
    };
    rows.iter().map(item).collect()
}

/// Writes a row, whether there is one with its id or not.
pub(super) fn put_item(client: &mut Client, role: &str, item: &Item) -> Result<(), Error> {
    let table = items_of(role);
    let statement = format!(
        "insert into {table} values ($1, $2, $3) on conflict (id) do update set name = $2, price = $3"
    );
    client.execute(&statement, &[&item.id, &item.name, &item.price])?;
    Ok(())
}

/// Removes a row, if there is one.
pub(super) fn remove_item(client: &mut Client, role: &str, id: i32) -> Result<(), Error> {
    let statement = format!("delete from {} where id = $1", items_of(role));
    client.execute(&statement, &[&id])?;
    Ok(())
}

/// What there is of what was written.
pub(super) fn item_rows(client: &mut Client, role: &str) -> Result<ItemRows, Error> {
    let statement = format!(
        "select count(*) filter (where id > {SEEDED}), {SEEDED} - count(*) filter (where id <= {SEEDED}) from {}",
        items_of(role)
    );
    let row = client.query_one(&statement, &[])?;
    let count = |index: usize| Ok(row.try_get::<_, i64>(index)?.max(0) as u64);
    Ok(ItemRows {
        created: count(0)?,
        deleted: count(1)?,
    })
}

/// A row that has neither its seeded value nor a valid written one; `None` if all are valid. The name of a new row
/// begins with `prefix`; the name of a row in `written` also continues with its id.
pub(super) fn damaged_item(
    client: &mut Client,
    role: &str,
    written: &RangeInclusive<i32>,
    prefix: &str,
) -> Result<Option<Item>, Error> {
    let statement = format!(
        "select i.id, i.name, i.price from {} i left join {SEEDS} s using (id) \
         where (i.name, i.price) is distinct from (s.name, s.price) \
         and not (i.id > {SEEDED} and starts_with(i.name, $3)) \
         and not (i.id between $1 and $2 and starts_with(i.name, $3 || i.id || ' ')) order by i.id limit 1",
        items_of(role)
    );
    let (first, last) = (*written.start(), *written.end());
    let row = client.query_opt(&statement, &[&first, &last, &prefix])?;
    row.map(|row| {
        Ok(Item {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            price: row.try_get(2)?,
        })
    })
    .transpose()
}

/// The rows of the table, with the ids 1 to this. Their numbers are in the same range.
pub const WORLDS: i32 = 10_000;

/// Makes the table of each role, whose schema is there, empty, and the views.
pub(super) fn make_worlds(client: &mut Client, roles: &[String]) -> Result<(), Error> {
    for role in roles {
        let schema = quoted(role);
        client.batch_execute(&format!(
            "create table {schema}.world (id integer primary key, randomnumber integer not null); \
             create view {schema}.\"World\" as select id, randomnumber from {schema}.world; \
             grant select, update on {schema}.world, {schema}.\"World\" to {schema}"
        ))?;
    }
    let readers: Vec<String> = roles.iter().map(|role| quoted(role)).collect();
    client.batch_execute(&format!(
        "create view \"Fortune\" as select id, message from fortune; grant select on \"Fortune\" to {}",
        readers.join(", ")
    ))
}

/// Fills the table anew. Tables that were filled with another `salt` from 0 to 9,999 differ in every row.
pub(super) fn fill_worlds(client: &mut Client, role: &str, salt: i32) -> Result<(), Error> {
    let table = format!("{}.world", quoted(role));
    client.batch_execute(&format!(
        "truncate {table}; \
         insert into {table} select id, (id * 7919 + {salt}) % {WORLDS} + 1 from generate_series(1, {WORLDS}) id; \
         analyze {table}"
    ))
}

/// The numbers of all rows, by id.
pub(super) fn world_numbers(client: &mut Client, role: &str) -> Result<Vec<i32>, Error> {
    let statement = format!(
        "select coalesce(array_agg(randomnumber order by id), '{{}}') from {}.world",
        quoted(role)
    );
    client.query_one(&statement, &[])?.try_get(0)
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

    #[test]
    fn items_differ_and_are_valid() {
        let names: BTreeSet<String> = (1..=SEEDED).map(|id| Item::seeded(id).name).collect();
        assert_eq!(names.len(), SEEDED as usize);
        assert!(
            names
                .iter()
                .all(|name| name.is_ascii() && name.len() <= 100)
        );
        assert!((1..=SEEDED).all(|id| (0..=1_000_000).contains(&Item::seeded(id).price)));
    }
}
