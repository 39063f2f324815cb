//! The load of crud, and whether the database has what was acknowledged under it.

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
    CREATED, DELETED, DONE, MISSING, MOST_PRICE, PAGE, READ, REPLACED, WRITTEN, content, get,
    page_after, page_content, put, right_items, value_of, values_of,
};
use crate::{
    services::postgres::{Item, ItemRows, OwnStatements, Postgres},
    verify::{Fault, Verifier, greeting::post},
};

/// Of 50 requests in a row: 35 read an item, 5 a page, 5 create one, 4 replace one, 1 deletes one.
const MIX: [(Kind, usize); 5] = [
    (Kind::Read, 35),
    (Kind::List, 5),
    (Kind::Create, 5),
    (Kind::Replace, 4),
    (Kind::Delete, 1),
];
/// What their groups are called, in the order of the mix.
pub(in crate::verify) const ROUTES: [&str; MIX.len()] = [
    "GET /items/ID",
    "GET /items",
    "POST /items",
    "PUT /items/ID",
    "DELETE /items/ID",
];

/// How often these come, with other ids each time, until they begin again.
const BLOCKS: usize = 40;

/// One in this many deletions may be acknowledged twice.
const TWICE: u64 = 100;

/// What a request of the load does. Its number is that of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    List,
    Create,
    Replace,
    Delete,
}

/// What a server was told to write, as far as its answers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    created: u64,
    replaced: u64,
    deleted: u64,
    /// Verified answers of all kinds.
    answers: u64,
    /// Requests without a right answer, of all kinds: they may have written or not.
    unknown: u64,
}

impl Acknowledged {
    /// Adds what a load found whose groups are called like this.
    pub(crate) fn add(&mut self, load: &Observation, routes: &[String]) {
        let group = |kind: Kind| {
            let name = ROUTES[kind as usize];
            let place = routes.iter().position(|route| route == name);
            let seen = place.and_then(|place| load.groups.get(place));
            seen.map_or(0, |seen| seen.total_succeeded)
        };
        self.created += group(Kind::Create);
        self.replaced += group(Kind::Replace);
        let kinds = MIX.iter().map(|(kind, _)| group(*kind));
        self.answers += kinds.sum::<u64>();
        // Of the deletions, some find nothing any more.
        self.deleted += load.all_statuses.get(&DONE[0]).copied().unwrap_or(0);
        self.unknown += load.total.issued.saturating_sub(load.total.succeeded);
    }

    fn all(&self) -> u64 {
        self.created + self.replaced + self.deleted
    }
}

/// What a server's table and its statements had seen at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemsSeen {
    rows: ItemRows,
    statements: OwnStatements,
}

/// A number of writes that were acknowledged, and how many there are.
struct Written {
    what: &'static str,
    acknowledged: u64,
    /// The fewest that there must be.
    least: u64,
    found: u64,
}

impl Verifier<'_> {
    /// Requests for the load: each kind as often as the mix says, evenly spread, with the answers as far as they are known.
    pub(in crate::verify) fn crud_to_load(&mut self) -> Result<Vec<Exchange>, Fault> {
        let (item, page) = (
            Item::seeded(*READ.start()),
            right_items(*READ.start(), PAGE),
        );
        // JSON may be spaced freely; a stack does it in one way.
        let rule = "the answer is right";
        let asked = self.expect_content(rule, get(item.id), content(&item))?;
        let spaces = extra(asked.body.len(), &value_of(&item));
        let asked =
            self.expect_content(rule, page_after(item.id - 1, PAGE), page_content(&page))?;
        let page_spaces = extra(asked.body.len(), &values_of(&page));
        let mut left = MIX.map(|(_, often)| often * BLOCKS);
        let mut reads = self.ids(READ, left[Kind::Read as usize]);
        let mut lists = self.ids(
            *READ.start()..=READ.end() - PAGE as i32,
            left[Kind::List as usize],
        );
        let mut replaced = self.ids(REPLACED, left[Kind::Replace as usize]);
        let mut exchanges = Vec::new();
        for kind in order() {
            left[kind as usize] -= 1;
            let turn = left[kind as usize];
            let (request, status, length, content) = match kind {
                Kind::Read => {
                    let item = Item::seeded(reads.next().unwrap_or(*READ.start()));
                    let length = length(&value_of(&item), spaces);
                    (
                        get(item.id),
                        StatusSet::just(200),
                        Some(length),
                        Some(content(&item)),
                    )
                }
                Kind::List => {
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
                Kind::Create => {
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
                Kind::Replace => {
                    let id = replaced.next().unwrap_or(*REPLACED.start());
                    // Another name and price each time: a mapper writes nothing where nothing changes.
                    let name = format!("{WRITTEN}{id} {{{{random 0 {MOST_PRICE}}}}}");
                    let request = put(&format!("/items/{id}"), any_price(&name));
                    let id_stays = Content::JsonAt {
                        pointer: "/id".to_owned(),
                        value: id.into(),
                    };
                    (written(request), StatusSet::just(200), None, Some(id_stays))
                }
                Kind::Delete => {
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
                group: Some(kind as u32),
                ..Exchange::new(request, expect)
            });
        }
        Ok(exchanges)
    }

    /// So many different ids of a range, in any order.
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

    /// What there is of writes so far; `None` for workloads that do not write, and where servers cannot be told apart.
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

    /// Checks that the database has what was `acknowledged` since `before`, and nothing that was not asked for. What was
    /// found, in words; `None` if that is not known.
    ///
    /// # Errors
    /// What is lost, or was not asked for.
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
            // Somebody has reset the server's statistics.
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
            Written {
                what: "created",
                acknowledged: acknowledged.created,
                least: acknowledged.created,
                found: now.rows.created.saturating_sub(before.rows.created),
            },
            Written {
                what: "replaced",
                acknowledged: acknowledged.replaced,
                least: acknowledged.replaced,
                found: updated,
            },
            Written {
                what: "deleted",
                acknowledged: acknowledged.deleted,
                // Of two that delete the same item at once, both may say that they did.
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

/// The kinds of the load's requests in their order: each is spread evenly, so that any stretch of it has the mix.
fn order() -> Vec<Kind> {
    let weights = MIX.map(|(_, often)| often as i64);
    let blocks = (0..BLOCKS).flat_map(|_| spread(&weights));
    blocks.map(|index| MIX[index].0).collect()
}

/// A body with another price in each request.
fn any_price(name: &str) -> Body {
    let price = format!("{{{{random 0 {MOST_PRICE}}}}}");
    Body::Sized(format!(r#"{{"name":"{name}","price":{price}}}"#).into())
}

/// A request with placeholders.
fn written(request: RequestSpec) -> RequestSpec {
    RequestSpec {
        template: true,
        ..request
    }
}

/// How many bytes more a stack's JSON has than the shortest.
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
            for (kind, often) in MIX {
                let count = stretch.iter().filter(|one| **one == kind).count();
                assert!(count.abs_diff(2 * often) <= 1, "{kind:?}: {count}");
            }
        }
    }

    #[test]
    fn kinds_are_the_groups_of_the_mix() {
        for (index, (kind, _)) in MIX.iter().enumerate() {
            assert_eq!(*kind as usize, index);
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
