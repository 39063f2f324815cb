//! The table world of TechEmpower's Framework Benchmarks, one for each server as the table items
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/blob/master/toolset/databases/postgres/create-postgres.sql>). That suite
//! has each of its tables a second time with a capital in its name, which is a view here.

use postgres::{Client, Error};

use super::admin::quoted;

/// The rows of the table, with the ids 1 to this. Their numbers are in the same range.
pub const WORLDS: i32 = 10_000;

/// Makes the table of each role, whose schema is there, empty, and the views.
pub(super) fn make(client: &mut Client, roles: &[String]) -> Result<(), Error> {
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
pub(super) fn fill(client: &mut Client, role: &str, salt: i32) -> Result<(), Error> {
    let table = format!("{}.world", quoted(role));
    client.batch_execute(&format!(
        "truncate {table}; \
         insert into {table} select id, (id * 7919 + {salt}) % {WORLDS} + 1 from generate_series(1, {WORLDS}) id; \
         analyze {table}"
    ))
}

/// The numbers of all rows, by id.
pub(super) fn numbers(client: &mut Client, role: &str) -> Result<Vec<i32>, Error> {
    let statement = format!(
        "select randomnumber from {}.world order by id",
        quoted(role)
    );
    let rows = client.query(&statement, &[])?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
