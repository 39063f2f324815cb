//! crud: items that are read, listed, created, replaced and deleted. Each answer to a write is compared with the database at
//! once, and after a load the database has whatever was acknowledged in it.

mod load;

use std::ops::RangeInclusive;

use deadheat_model::{
    load::{Body, Content, RequestSpec},
    workload::Table,
};
use rand::{Rng as _, RngExt as _};
use serde_json::{Value, json};

pub(super) use self::load::ROUTES;
pub(crate) use self::load::{Acknowledged, ItemsSeen};
use super::{
    Depth, Fault, Verifier,
    fault::shown,
    greeting::post,
    question::{ExpectedAnswer, ExpectedBody, ProbeRequest},
    users::fault,
};
use crate::services::{
    ServiceError,
    postgres::{Item, OwnStatements, Postgres, SEEDED},
};

/// Ids that a load deletes, each at random, …
const DELETED: RangeInclusive<i32> = 1..=40_000;
/// … that it only reads, so that the right answer is known, …
const READ: RangeInclusive<i32> = 40_001..=50_000;
/// … and that it replaces.
const REPLACED: RangeInclusive<i32> = 50_001..=SEEDED;
/// How the names begin that a load writes.
const WRITTEN: &str = "Load ";

/// Items of a page, if the request does not say.
const PAGE: u32 = 20;
const MAX_PRICE: i32 = 1_000_000;
const LONGEST_NAME: usize = 100;

const CREATED: &[u16] = &[201];
const DONE: &[u16] = &[204];
const MISSING: &[u16] = &[404];
/// For a body or a query that is not as agreed.
const INVALID: &[u16] = &[400, 422];
/// For a path whose id cannot be one.
const NO_ID: &[u16] = &[400, 404, 422];

const ANEW: &str = "items are read for each request (this one was changed after the answer before)";
const GONE: &str = "an item that is not there is not found";
const WRITTEN_AT_ONCE: &str = "a write is in the database when its answer comes";
const REFUSED: &str = "an item that is not as agreed is refused";
const NOT_WRITTEN: &str = "a request that is refused writes nothing";

impl Verifier<'_> {
    /// The first page after a reset.
    pub(super) fn right_page() -> Content {
        page_content(&right_items(1, PAGE))
    }

    /// Questions whose answers are like no other's: an item, a page, and so on. Only right after a reset.
    pub(super) fn crud_questions(&mut self, count: usize) -> Vec<ProbeRequest> {
        let question = |(index, id): (usize, i32)| {
            if index.is_multiple_of(2) {
                return self.question(get(id), content(&Item::seeded(id)));
            }
            let id = id.min(READ.end() - PAGE as i32);
            self.question(
                page_after(id, PAGE),
                page_content(&right_items(id + 1, PAGE)),
            )
        };
        let ids = (0..count).map(|index| READ.start() + (index as i32 * 47) % 9_000);
        ids.enumerate().map(question).collect()
    }

    /// A third each of items to be created, replaced and deleted, and what is then there of the first two: of new ones
    /// without their ids.
    pub(super) fn crud_writes(&mut self, count: usize) -> (Vec<ProbeRequest>, Vec<Item>) {
        let mut written = Vec::new();
        let write = |index: usize| {
            let (row, price) = ((index / 3) as i32, self.random.random_range(0..=MAX_PRICE));
            let mut item = Item {
                id: 0,
                name: format!("{WRITTEN}{index}"),
                price,
            };
            let (request, status) = match index % 3 {
                0 => (create(&item.name, price), CREATED),
                1 => {
                    item.id = REPLACED.start() + row;
                    (replace(item.id, &item.name, price), &[200][..])
                }
                _ => (delete(DELETED.start() + row), DONE),
            };
            if index % 3 < 2 {
                written.push(item);
            }
            ProbeRequest {
                request,
                wanted: ExpectedAnswer::Status(status),
            }
        };
        let questions = (0..count).map(write).collect();
        (questions, written)
    }

    /// Checks that the database has these items, new ones without their ids, and that this many seeded ones are
    /// deleted.
    pub(super) fn expect_all_written(
        &mut self,
        mut written: Vec<Item>,
        deleted: u64,
    ) -> Result<(), Fault> {
        let rows = self.own_table(Postgres::item_rows)?;
        let after = *REPLACED.start() - 1;
        let replaced = written.iter().filter(|item| item.id > 0).count() as u32;
        let mut found = self.own_table(|postgres, seat| postgres.items(seat, after, replaced))?;
        let most = written.len() as u32 + rows.created as u32;
        let created = self.own_table(|postgres, seat| postgres.items(seat, SEEDED, most))?;
        found.extend(created.into_iter().map(|item| Item { id: 0, ..item }));
        let by_all = |item: &Item| (item.id, item.name.clone(), item.price);
        written.sort_by_key(by_all);
        found.sort_by_key(by_all);
        let asked = "writes over many connections at once".to_owned();
        let rule = "the database has all acknowledged writes, and no others";
        if rows.deleted != deleted {
            return Err(Fault::new(
                asked,
                rule,
                format!("{deleted} deleted items"),
                rows.deleted.to_string(),
            ));
        }
        let differs = written.iter().zip(&found).find(|(one, other)| one != other);
        match differs {
            Some((one, other)) => Err(Fault::new(
                asked,
                rule,
                format!("`{}`", value_of(one)),
                format!("`{}`", value_of(other)),
            )),
            None if written.len() != found.len() => Err(Fault::new(
                asked,
                rule,
                format!("{} items that were written", written.len()),
                found.len().to_string(),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn verify_crud(&mut self, depth: Depth) -> Result<(), Fault> {
        self.own_table(Postgres::reset_items)?;
        let before = self.own_statements(Table::Items)?;
        let known = Item::seeded(self.random.random_range(READ));
        self.expect_item("the answer is right", &known)?;
        let changed = Item {
            id: known.id,
            ..self.new_item()
        };
        self.own_table(|postgres, seat| postgres.put_item(seat, &changed))?;
        let shown = self
            .expect_item(ANEW, &changed)
            .and_then(|()| self.expect_page(known.id - 3, 5));
        self.own_table(|postgres, seat| postgres.put_item(seat, &known))?;
        shown?;
        let item = self.new_item();
        let created = self.expect_created(&item)?;
        let replaced = Item {
            id: created.id,
            ..self.new_item()
        };
        self.expect_replaced(&replaced)?;
        self.expect_item("an item that was replaced is read as it is now", &replaced)?;
        self.expect_deleted(created.id)?;
        self.expect_status(GONE, get(created.id), MISSING)?;
        self.end_item_count(before, 5, 3)?;
        if depth == Depth::Full {
            self.verify_items()?;
            self.verify_pages()?;
            self.verify_validation()?;
        }
        Ok(())
    }

    /// Checks missing items, invalid ids, and unusual characters in names.
    fn verify_items(&mut self) -> Result<(), Fault> {
        let added = Item {
            id: SEEDED + 5_000,
            ..self.new_item()
        };
        self.own_table(|postgres, seat| postgres.put_item(seat, &added))?;
        self.expect_item(
            "any item of the table is found (this one was added)",
            &added,
        )?;
        self.own_table(|postgres, seat| postgres.remove_item(seat, added.id))?;
        self.expect_status(GONE, get(added.id), MISSING)?;
        self.expect_status(GONE, delete(added.id), MISSING)?;
        let Item { name, price, .. } = &added;
        self.expect_status(GONE, replace(added.id, name, *price), MISSING)?;
        self.expect_row(
            "a replacement of an item that is not there creates none",
            added.id,
            None,
        )?;
        for id in ["abc", "0", "-1", "99999999999", "1e400"] {
            let rule = "an id that cannot be an item's is refused or not found";
            let path = format!("/items/{id}");
            let read = RequestSpec::get(&*path);
            let delete = RequestSpec {
                method: "DELETE".to_owned(),
                ..read.clone()
            };
            for request in [read, put(&path, body(name, *price)), delete] {
                self.expect_status(rule, request, NO_ID)?;
            }
        }
        let longest = "é".repeat(LONGEST_NAME);
        let names = [
            "x",
            &*longest,
            "O'Neil \"quotes\" \\ / 李娜 🐎",
            "'); drop table items; --",
        ];
        for (name, price) in names.into_iter().zip([0, MAX_PRICE, 1, 2]) {
            let item = Item {
                id: 0,
                name: name.to_owned(),
                price,
            };
            let created = self.expect_created(&item)?;
            self.expect_item("an item is read as it was created", &created)?;
            self.expect_deleted(created.id)?;
            self.expect_status(GONE, delete(created.id), MISSING)?;
        }
        Ok(())
    }

    fn verify_pages(&mut self) -> Result<(), Fault> {
        let first = right_items(1, PAGE);
        self.expect_content(
            "a page without a query is the first one",
            RequestSpec::get("/items"),
            page_content(&first),
        )?;
        for (query, items) in [
            ("limit=5", right_items(1, 5)),
            ("after=44000", right_items(44_001, PAGE)),
        ] {
            let rule = "a query without limit or after has the default";
            let request = RequestSpec::get(format!("/items?{query}"));
            self.expect_content(rule, request, page_content(&items))?;
        }
        for (after, limit) in [(0, 1), (44_000, 100), (SEEDED - 2, 20), (SEEDED, 20)] {
            self.expect_page(after, limit)?;
        }
        self.own_table(|postgres, seat| postgres.remove_item(seat, 41_003))?;
        let shown = self.expect_page(41_000, 5);
        self.own_table(|postgres, seat| postgres.put_item(seat, &Item::seeded(41_003)))?;
        shown?;
        for query in ["limit=0", "limit=101", "limit=x", "after=-1", "after=x"] {
            let rule = "a page that is not as agreed is refused";
            self.expect_status(rule, RequestSpec::get(format!("/items?{query}")), INVALID)?;
        }
        Ok(())
    }

    fn verify_validation(&mut self) -> Result<(), Fault> {
        let target = Item::seeded(*REPLACED.start());
        let long = json!({ "name": "x".repeat(LONGEST_NAME + 1), "price": 1 }).to_string();
        let invalid = [
            "",
            "{",
            "[]",
            "name=x&price=1",
            r#"{"name":"x"}"#,
            r#"{"price":1}"#,
            r#"{"name":"","price":1}"#,
            r#"{"name":null,"price":1}"#,
            r#"{"name":"x","price":null}"#,
            r#"{"name":"x","price":-1}"#,
            r#"{"name":"x","price":1000001}"#,
            r#"{"name":"x","price":"much"}"#,
            &*long,
        ];
        let before = self.own_table(Postgres::item_rows)?;
        for body in invalid {
            let body = Body::Sized(body.to_owned().into());
            let replace = put(&format!("/items/{}", target.id), body.clone());
            for request in [post("/items", body), replace] {
                let shown = String::from_utf8_lossy(match &request.body {
                    Body::Sized(bytes) => bytes,
                    _ => &[],
                });
                let shown: String = shown.chars().take(60).collect();
                let asked = format!(
                    "{} {} with the body `{shown}`",
                    request.method, request.path
                );
                let answer = self.client.send(&request)?;
                let question = ProbeRequest {
                    request,
                    wanted: ExpectedAnswer::Status(INVALID),
                };
                question.judge_of_stack(&asked, REFUSED, &answer, self.late)?;
                self.passed += 1;
            }
        }
        let after = self.own_table(Postgres::item_rows)?;
        if after != before {
            return Err(Fault::new(
                "POST /items with bodies that are refused".to_owned(),
                NOT_WRITTEN,
                "no new item".to_owned(),
                format!("{} new ones", after.created.saturating_sub(before.created)),
            ));
        }
        self.expect_row(NOT_WRITTEN, target.id, Some(&target))?;
        self.verify_assigned_id(&target)
    }

    /// The id of a new item is the database's choice.
    fn verify_assigned_id(&mut self, target: &Item) -> Result<(), Fault> {
        let rule = "an id in the body is not taken over";
        let request = post(
            "/items",
            Body::Sized(
                json!({ "id": target.id, "name": "taken over", "price": 1 })
                    .to_string()
                    .into(),
            ),
        );
        let answer = self.expect_status(rule, request, &[201, 400, 422])?;
        self.expect_row(rule, target.id, Some(target))?;
        let id = serde_json::from_slice::<Value>(&answer.body)
            .ok()
            .and_then(|value| i32::try_from(value["id"].as_i64()?).ok());
        if let Some(id) = id.filter(|_| answer.status == 201) {
            self.expect_deleted(id)?;
        }
        Ok(())
    }

    fn expect_item(&mut self, rule: &'static str, item: &Item) -> Result<(), Fault> {
        self.expect_content(rule, get(item.id), content(item))?;
        Ok(())
    }

    fn expect_page(&mut self, after: i32, limit: u32) -> Result<(), Fault> {
        let items = self.own_table(|postgres, seat| postgres.items(seat, after, limit))?;
        let rule = "a page has the items above the id `after`, in their order";
        self.expect_content(rule, page_after(after, limit), page_content(&items))?;
        Ok(())
    }

    /// Creates an item like this one; with its id.
    fn expect_created(&mut self, item: &Item) -> Result<Item, Fault> {
        let request = create(&item.name, item.price);
        let asked = format!("POST {}", request.path);
        let answer = self.expect_status("a new item is created", request, CREATED)?;
        let value = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
        let id = value["id"].as_i64().and_then(|id| i32::try_from(id).ok());
        let created = Item {
            id: id.unwrap_or_default(),
            ..item.clone()
        };
        let wanted = ExpectedBody::from(content(&created));
        let body = ProbeRequest::judge_body(
            &asked,
            "a new item comes back with its id",
            &self.workload.content_type,
            &wanted,
            &answer,
        );
        body?;
        let location = answer.header("location");
        let expected = format!("/items/{}", created.id);
        if path_of(location.unwrap_or_default()) != expected {
            return Err(Fault::new(
                asked,
                "Location is the path of the new item",
                format!("`{expected}`"),
                match location {
                    Some(location) => format!("`{location}`"),
                    None => "no Location".to_owned(),
                },
            ));
        }
        self.expect_row(WRITTEN_AT_ONCE, created.id, Some(&created))?;
        Ok(created)
    }

    fn expect_replaced(&mut self, item: &Item) -> Result<(), Fault> {
        let rule = "an item that is replaced comes back as it is now";
        let request = replace(item.id, &item.name, item.price);
        self.expect_content(rule, request, content(item))?;
        self.expect_row(WRITTEN_AT_ONCE, item.id, Some(item))
    }

    fn expect_deleted(&mut self, id: i32) -> Result<(), Fault> {
        let answer = self.expect_status("an item is deleted", delete(id), DONE)?;
        if !answer.body.is_empty() {
            return Err(Fault::new(
                format!("DELETE /items/{id}"),
                "the answer to a deletion has no body",
                shown(b""),
                shown(&answer.body),
            ));
        }
        self.expect_row(WRITTEN_AT_ONCE, id, None)
    }

    /// Checks what the database has of an item.
    fn expect_row(
        &mut self,
        rule: &'static str,
        id: i32,
        item: Option<&Item>,
    ) -> Result<(), Fault> {
        let rows = self.own_table(|postgres, seat| postgres.items(seat, id - 1, 1))?;
        let found = rows.first().filter(|row| row.id == id);
        if found == item {
            return Ok(());
        }
        let described = |item: Option<&Item>| match item {
            Some(item) => format!("`{}`", value_of(item)),
            None => "no such row".to_owned(),
        };
        Err(Fault::new(
            format!("the row {id} of items"),
            rule,
            described(item),
            described(found),
        ))
    }

    fn new_item(&mut self) -> Item {
        let number = self.random.next_u32();
        Item {
            id: 0,
            name: format!("Item {number:08x}"),
            price: self.random.random_range(0..=MAX_PRICE),
        }
    }

    /// Does something with the server's own table.
    pub(super) fn own_table<T>(
        &mut self,
        work: impl FnOnce(&Postgres, usize) -> Result<T, ServiceError>,
    ) -> Result<T, Fault> {
        let seat = self.seat;
        work(self.postgres()?, seat).map_err(fault)
    }

    /// What the server's statements did so far to `table`, which is its own.
    pub(super) fn own_statements(&mut self, table: Table) -> Result<Option<OwnStatements>, Fault> {
        self.own_table(|postgres, seat| postgres.own_statements(seat, table))
    }

    /// Checks that each of these reads and writes since `before` ran one statement. An object-relational mapper may
    /// read before it replaces or deletes.
    fn end_item_count(
        &mut self,
        before: Option<OwnStatements>,
        reads: u64,
        writes: u64,
    ) -> Result<(), Fault> {
        let (Some(before), Some(after)) = (before, self.own_statements(Table::Items)?) else {
            return Ok(());
        };
        let (Some(read), Some(written)) = (
            after.reads.checked_sub(before.reads),
            after.writes.checked_sub(before.writes),
        ) else {
            return Ok(());
        };
        let most = if self.declared.is_orm {
            reads + writes
        } else {
            reads
        };
        if (reads..=most).contains(&read) && written == writes {
            return Ok(());
        }
        let or_more = if most > reads {
            format!(" to {most}")
        } else {
            String::new()
        };
        Err(Fault::new(
            format!("{reads} requests that read items, and {writes} that write"),
            "each request runs one statement",
            format!("{reads}{or_more} statements that read, {writes} that write"),
            format!("PostgreSQL counted {read} and {written}"),
        ))
    }
}

/// Items with ids from `first` on, as they are after a reset.
fn right_items(first: i32, count: u32) -> Vec<Item> {
    (first..first + count as i32).map(Item::seeded).collect()
}

fn get(id: i32) -> RequestSpec {
    RequestSpec::get(format!("/items/{id}"))
}

fn page_after(after: i32, limit: u32) -> RequestSpec {
    RequestSpec::get(format!("/items?after={after}&limit={limit}"))
}

fn create(name: &str, price: i32) -> RequestSpec {
    post("/items", body(name, price))
}

fn put(path: &str, body: Body) -> RequestSpec {
    RequestSpec {
        method: "PUT".to_owned(),
        ..post(path, body)
    }
}

fn replace(id: i32, name: &str, price: i32) -> RequestSpec {
    put(&format!("/items/{id}"), body(name, price))
}

fn delete(id: i32) -> RequestSpec {
    RequestSpec {
        method: "DELETE".to_owned(),
        ..get(id)
    }
}

fn body(name: &str, price: i32) -> Body {
    Body::Sized(json!({ "name": name, "price": price }).to_string().into())
}

fn value_of(item: &Item) -> Value {
    json!({ "id": item.id, "name": item.name, "price": item.price })
}

fn values_of(items: &[Item]) -> Value {
    items.iter().map(value_of).collect()
}

fn content(item: &Item) -> Content {
    Content::Json {
        value: value_of(item),
    }
}

fn page_content(items: &[Item]) -> Content {
    Content::Json {
        value: values_of(items),
    }
}

/// The path of a URL, which may be a path alone.
fn path_of(url: &str) -> &str {
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_or_a_url() {
        assert_eq!(path_of("/items/7"), "/items/7");
        assert_eq!(path_of("http://127.0.0.1:80/items/7"), "/items/7");
        assert_eq!(path_of("https://host"), "/");
        assert_eq!(path_of(""), "");
    }
}
