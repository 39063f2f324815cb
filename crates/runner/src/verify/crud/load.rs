//! The load of crud, and the check that the database has all writes that were acknowledged under load.

use std::ops::RangeInclusive;

use deadheat_load::spread;
use deadheat_model::{
    Exchange, Observation,
    figure::count,
    load::{Body, Content, Expectation, RequestSpec, StatusSet},
    workload::Table,
};
use rand::seq::index::sample;
use serde_json::Value;

use super::{
    CREATED, DELETED, DONE, MAX_PRICE, MISSING, PAGE, READ, REPLACED, WRITTEN, content, get,
    page_after, page_content, put, right_items, value_of, values_of,
};
use crate::{
    services::postgres::{Item, ItemRows, OwnStatements, Postgres},
    verify::{Fault, Verifier, greeting::post},
};

/// The number of requests of each operation in every 50: 35 read an item, 5 read a page, 5 create an item, 4 replace
/// one, 1 deletes one.
const MIX: [(Operation, usize); 5] = [
    (Operation::Read, 35),
    (Operation::List, 5),
    (Operation::Create, 5),
    (Operation::Replace, 4),
    (Operation::Delete, 1),
];
/// The names of the request groups, in the order of `MIX`.
pub(in crate::verify) const ROUTES: [&str; MIX.len()] = [
    "GET /items/ID",
    "GET /items",
    "POST /items",
    "PUT /items/ID",
    "DELETE /items/ID",
];

/// The number of repetitions of `MIX` with different ids before the load repeats.
const BLOCKS: usize = 40;

/// At most one in this many deletions may be acknowledged twice.
const TWICE: u64 = 100;

/// The operation of a request. Its discriminant is the index of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    List,
    Create,
    Replace,
    Delete,
}

/// Counts of the writes that a server acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    created: u64,
    replaced: u64,
    deleted: u64,
    /// Verified answers of all operations.
    answers: u64,
    /// Requests of all operations without a right answer. They may have been executed or not.
    unknown: u64,
}

impl Acknowledged {
    /// Adds the results of a load with these group names.
    pub(crate) fn add(&mut self, load: &Observation, routes: &[String]) {
        let group = |operation: Operation| {
            let name = ROUTES[operation as usize];
            let place = routes.iter().position(|route| route == name);
            let seen = place.and_then(|place| load.groups.get(place));
            seen.map_or(0, |seen| seen.total_succeeded)
        };
        self.created += group(Operation::Create);
        self.replaced += group(Operation::Replace);
        let kinds = MIX.iter().map(|(operation, _)| group(*operation));
        self.answers += kinds.sum::<u64>();
        // Deletions of items that were already deleted do not count.
        self.deleted += load.all_statuses.get(&DONE[0]).copied().unwrap_or(0);
        self.unknown += load.total.issued.saturating_sub(load.total.succeeded);
    }

    fn all(&self) -> u64 {
        self.created + self.replaced + self.deleted
    }
}

/// Counts of a server's table items and of its statements at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemsSeen {
    rows: ItemRows,
    statements: OwnStatements,
}

/// The number of acknowledged writes of a kind, and the number found in the database.
struct WriteCount {
    what: &'static str,
    acknowledged: u64,
    /// The minimum number that the database must have.
    least: u64,
    found: u64,
}

impl Verifier<'_> {
    /// Creates the load's requests in the proportions of `MIX`, evenly spread, with their right answers if these are
    /// known.
    pub(in crate::verify) fn crud_to_load(&mut self) -> Result<Vec<Exchange>, Fault> {
        let (item, page) = (
            Item::seeded(*READ.start()),
            right_items(*READ.start(), PAGE),
        );
        // JSON may contain any whitespace, but a stack always formats it in the same way.
        let rule = "the answer is right";
        let asked = self.expect_content(rule, get(item.id), content(&item))?;
        let spaces = extra(asked.body.len(), &value_of(&item));
        let asked =
            self.expect_content(rule, page_after(item.id - 1, PAGE), page_content(&page))?;
        let page_spaces = extra(asked.body.len(), &values_of(&page));
        let mut left = MIX.map(|(_, often)| often * BLOCKS);
        let mut reads = self.ids(READ, left[Operation::Read as usize]);
        let mut lists = self.ids(
            *READ.start()..=READ.end() - PAGE as i32,
            left[Operation::List as usize],
        );
        let mut replaced = self.ids(REPLACED, left[Operation::Replace as usize]);
        let mut exchanges = Vec::new();
        for operation in order() {
            left[operation as usize] -= 1;
            let turn = left[operation as usize];
            let (request, status, length, content) = match operation {
                Operation::Read => {
                    let item = Item::seeded(reads.next().unwrap_or(*READ.start()));
                    let length = length(&value_of(&item), spaces);
                    (
                        get(item.id),
                        StatusSet::just(200),
                        Some(length),
                        Some(content(&item)),
                    )
                }
                Operation::List => {
                    let after = lists.next().unwrap_or(*READ.start());
                    let items = right_items(after + 1, PAGE);
                    let length = length(&values_of(&items), page_spaces);
                    (
                        page_after(after, PAGE),
                        StatusSet::just(200),
                        Some(length),
                        Some(page_content(&items)),
                    )
                }
                Operation::Create => {
                    let name = format!("{WRITTEN}{turn}");
                    let name_stays = Content::JsonAt {
                        pointer: "/name".to_owned(),
                        value: name.as_str().into(),
                    };
                    (
                        written(post("/items", any_price(&name))),
                        StatusSet::just(CREATED[0]),
                        None,
                        Some(name_stays),
                    )
                }
                Operation::Replace => {
                    let id = replaced.next().unwrap_or(*REPLACED.start());
                    // A new name and price each time, because object-relational mappers skip writes that change
                    // nothing.
                    let name = format!("{WRITTEN}{id} {{{{random 0 {MAX_PRICE}}}}}");
                    let request = put(&format!("/items/{id}"), any_price(&name));
                    let id_stays = Content::JsonAt {
                        pointer: "/id".to_owned(),
                        value: id.into(),
                    };
                    (written(request), StatusSet::just(200), None, Some(id_stays))
                }
                Operation::Delete => {
                    let (first, last) = (DELETED.start(), DELETED.end());
                    let request = RequestSpec {
                        method: "DELETE".to_owned(),
                        ..RequestSpec::get(format!("/items/{{{{random {first} {last}}}}}"))
                    };
                    (
                        written(request),
                        StatusSet::of(&[DONE[0], MISSING[0]]),
                        None,
                        None,
                    )
                }
            };
            let expect = Expectation {
                status,
                length,
                content,
            };
            exchanges.push(Exchange {
                group: Some(operation as u32),
                ..Exchange::new(request, expect)
            });
        }
        Ok(exchanges)
    }

    /// `count` different random ids in `range`.
    fn ids(
        &mut self,
        range: RangeInclusive<i32>,
        count: usize,
    ) -> impl Iterator<Item = i32> + use<> {
        let all = (range.end() - range.start() + 1) as usize;
        let chosen = sample(&mut self.random, all, count);
        chosen
            .into_iter()
            .map(move |index| range.start() + index as i32)
    }

    /// Counts of the writes so far. `None` for workloads that do not write, and if servers cannot be distinguished.
    pub(crate) fn items_seen(&mut self) -> Result<Option<ItemsSeen>, Fault> {
        if !self.workload.oracle.writes() {
            return Ok(None);
        }
        let Some(statements) = self.own_statements(Table::Items)? else {
            return Ok(None);
        };
        let rows = self.own_table(Postgres::item_rows)?;
        Ok(Some(ItemsSeen { rows, statements }))
    }

    /// Checks that the database has all writes `acknowledged` since `before`, and no others. Returns the number of
    /// these writes; `None` if it cannot be checked.
    ///
    /// # Errors
    /// The lost writes, or the changes that were not requested.
    pub(crate) fn check_acknowledged(
        &mut self,
        before: Option<ItemsSeen>,
        acknowledged: &Acknowledged,
    ) -> Result<Option<u64>, Fault> {
        let (Some(before), Some(now)) = (before, self.items_seen()?) else {
            return Ok(None);
        };
        let workload = self.workload;
        let asked = || format!("{} under load", workload.id);
        let (Some(read), Some(written), Some(updated)) = (
            now.statements.reads.checked_sub(before.statements.reads),
            now.statements.writes.checked_sub(before.statements.writes),
            now.statements
                .updated
                .checked_sub(before.statements.updated),
        ) else {
            // Another user has reset the server's statistics.
            return Ok(None);
        };
        if read + written < acknowledged.answers {
            return Err(Fault::new(
                asked(),
                "each request runs one statement",
                format!("at least {} statements", count(acknowledged.answers)),
                format!("PostgreSQL counted {}", count(read + written)),
            ));
        }
        let all = [
            WriteCount {
                what: "created",
                acknowledged: acknowledged.created,
                least: acknowledged.created,
                found: now.rows.created.saturating_sub(before.rows.created),
            },
            WriteCount {
                what: "replaced",
                acknowledged: acknowledged.replaced,
                least: acknowledged.replaced,
                found: updated,
            },
            WriteCount {
                what: "deleted",
                acknowledged: acknowledged.deleted,
                // Two simultaneous deletions of the same item may both be acknowledged.
                least: acknowledged.deleted - acknowledged.deleted.div_ceil(TWICE),
                found: now.rows.deleted.saturating_sub(before.rows.deleted),
            },
        ];
        for one in all {
            let (least, most) = (one.least, one.acknowledged + acknowledged.unknown);
            if !(least..=most).contains(&one.found) {
                let rule = if one.found < least {
                    "each acknowledged write is in the database"
                } else {
                    "each write in the database was asked for"
                };
                let range = match most - least {
                    0 => count(most),
                    _ => format!("{} to {}", count(least), count(most)),
                };
                return Err(Fault::new(
                    asked(),
                    rule,
                    format!("{range} items {}", one.what),
                    count(one.found),
                ));
            }
        }
        let damaged =
            self.own_table(|postgres, seat| postgres.damaged_item(seat, &REPLACED, WRITTEN))?;
        if let Some(item) = damaged {
            return Err(Fault::new(
                asked(),
                "no other item changes",
                format!("items as they were, or with a name that begins with `{WRITTEN}`"),
                format!("`{}`", value_of(&item)),
            ));
        }
        Ok(Some(acknowledged.all()))
    }
}

/// The operations of the load's requests in order. Each is spread evenly, so that any part of the load has the mix.
fn order() -> Vec<Operation> {
    let weights = MIX.map(|(_, often)| often as i64);
    let blocks = (0..BLOCKS).flat_map(|_| spread(&weights));
    blocks.map(|index| MIX[index].0).collect()
}

/// A body with a random price in each request.
fn any_price(name: &str) -> Body {
    let price = format!("{{{{random 0 {MAX_PRICE}}}}}");
    Body::Sized(format!(r#"{{"name":"{name}","price":{price}}}"#).into())
}

/// A request with placeholders.
fn written(request: RequestSpec) -> RequestSpec {
    RequestSpec {
        template: true,
        ..request
    }
}

/// The number of bytes by which a stack's JSON is longer than the shortest form.
fn extra(length: usize, value: &Value) -> usize {
    length.saturating_sub(value.to_string().len())
}

fn length(value: &Value, extra: usize) -> u64 {
    (value.to_string().len() + extra) as u64
}

#[cfg(test)]
mod tests {
    use deadheat_model::observation::GroupSeen;

    use super::*;

    #[test]
    fn any_stretch_of_the_load_has_the_mix() {
        let order = order();
        assert_eq!(order.len(), 2_000);
        for stretch in order.windows(100) {
            for (operation, often) in MIX {
                let count = stretch.iter().filter(|one| **one == operation).count();
                assert!(count.abs_diff(2 * often) <= 1, "{operation:?}: {count}");
            }
        }
    }

    #[test]
    fn kinds_are_the_groups_of_the_mix() {
        for (index, (operation, _)) in MIX.iter().enumerate() {
            assert_eq!(*operation as usize, index);
        }
    }

    #[test]
    fn what_a_load_found_is_added_up() {
        let mut groups = vec![GroupSeen::default(); 5];
        for (index, seen) in (1..).zip(&mut groups) {
            seen.total_succeeded = index;
        }
        let mut load = Observation {
            groups,
            all_statuses: [(200, 7), (204, 4)].into(),
            ..Observation::default()
        };
        (load.total.issued, load.total.succeeded) = (17, 15);
        let mut all = Acknowledged::default();
        let routes = ROUTES.map(str::to_owned);
        all.add(&load, &routes);
        all.add(&load, &routes);
        let expected = Acknowledged {
            created: 6,
            replaced: 8,
            deleted: 8,
            answers: 30,
            unknown: 4,
        };
        assert_eq!(all, expected);
    }
}
