//! Faults planted in what a copy of a real stack does with items.

use super::{Patch, STACK, assert_found, copy_with};

const FILE: &str = "items.go";

/// Asserts that the check for crud finds this fault in the stack's items.
#[track_caller]
fn assert_item_fault_found(before: &'static str, after: &'static str, rule: &[&str]) {
    assert_found(&[(FILE, before, after)], "crud", rule);
}

#[test]
fn an_item_that_is_kept() {
    let patches = [
        (
            FILE,
            "type itemsHandler struct {",
            "var kept sync.Map\n\ntype itemsHandler struct {",
        ),
        (FILE, "\"strings\"\n", "\"strings\"\n\t\"sync\"\n"),
        (
            FILE,
            "\tif found, ok := h.one(w, r, readItem, id); ok {\n",
            "\tif found, ok := kept.Load(id); ok {\n\t\trespondJSON(w, http.StatusOK, found)\n\t\treturn\n\t}\n\
             \tif found, ok := h.one(w, r, readItem, id); ok {\n\t\tkept.Store(id, found)\n",
        ),
    ];
    let rule = ["items are read for each request (this one was changed after the answer before)"];
    assert_found(&patches, "crud", &rule);
}

#[test]
fn a_replacement_that_is_acknowledged_and_lost() {
    assert_item_fault_found(
        "\"update items set name = $2, price = $3 where id = $1 returning id, name, price\"",
        "\"select id, $2::text, $3::integer from items where id = $1\"",
        &["a write is in the database when its answer comes"],
    );
}

#[test]
fn a_new_item_that_is_acknowledged_and_lost() {
    assert_item_fault_found(
        "\"insert into items (name, price) values ($1, $2) returning id, name, price\"",
        "\"select max(id) + 1, $1::text, $2::integer from items\"",
        &[
            "a write is in the database when its answer comes",
            "got no such row",
        ],
    );
}

#[test]
fn a_replacement_that_creates_an_item() {
    assert_item_fault_found(
        "\"update items set name = $2, price = $3 where id = $1 returning id, name, price\"",
        "\"insert into items values ($1, $2, $3) on conflict (id) do update set name = $2, price = $3 returning \
         id, name, price\"",
        &["PUT /items/", "expected status 404, got status 200"],
    );
}

#[test]
fn a_deletion_that_always_succeeds() {
    assert_item_fault_found(
        "deleted.RowsAffected() == 0:",
        "deleted.RowsAffected() < 0:",
        &["DELETE /items/", "expected status 404, got status 204"],
    );
}

#[test]
fn a_name_that_is_measured_in_bytes() {
    assert_item_fault_found(
        "length := utf8.RuneCountInString(*i.Name)",
        "_ = utf8.RuneCountInString\n\tlength := len(*i.Name)",
        &["a new item is created: expected status 201, got status 400"],
    );
}

#[test]
fn a_price_without_a_limit() {
    assert_item_fault_found(
        "*i.Price >= 0 && *i.Price <= maxItemPrice",
        "*i.Price >= 0",
        &[
            "POST /items with the body `{\"name\":\"x\",\"price\":1000001}`",
            "expected status 400 or 422, got status 201",
        ],
    );
}

#[test]
fn a_page_that_begins_with_the_id_itself() {
    assert_item_fault_found(
        "where id > $1 order",
        "where id >= $1 order",
        &["a page has the items above the id `after`, in their order"],
    );
}

#[test]
fn a_page_of_any_size() {
    assert_item_fault_found(
        "limit < 1 || limit > maxPage",
        "limit < 1 || limit > 10*maxPage",
        &["GET /items?limit=101: a page that is not as agreed is refused"],
    );
}

#[test]
fn a_new_item_without_its_location() {
    assert_item_fault_found(
        "w.Header().Set(\"Location\", fmt.Sprintf(\"/items/%d\", created.ID))",
        "_ = fmt.Sprint()",
        &["Location is the path of the new item", "got no Location"],
    );
}

#[test]
fn an_id_of_the_client() {
    let patches = [
        (
            FILE,
            "\tName  *string `json:\"name\"`\n\tPrice *int32  `json:\"price\"`",
            "\tID    *int32  `json:\"id\"`\n\tName  *string `json:\"name\"`\n\tPrice *int32  `json:\"price\"`",
        ),
        (
            FILE,
            "\tif created, ok := h.one(w, r, createItem",
            "\tif input.ID != nil {\n\t\th.one(w, r, \"insert into items values ($1, $2, $3) on conflict (id) do \
             update set name = $2 returning id, name, price\", input.ID, input.Name, input.Price)\n\
             \t\trespondJSON(w, http.StatusCreated, item{*input.ID, *input.Name, *input.Price})\n\t\treturn\n\t}\n\
             \tif created, ok := h.one(w, r, createItem",
        ),
    ];
    assert_found(&patches, "crud", &["an id in the body is not taken over"]);
}

#[test]
fn values_in_the_text_of_a_statement() {
    assert_item_fault_found(
        "h.one(w, r, createItem, input.Name, input.Price)",
        "h.one(w, r, fmt.Sprintf(\"insert into items (name, price) values ('%s', %d) returning id, name, price\", \
         *input.Name, *input.Price))",
        &["POST /items", "expected status 201, got status 500"],
    );
}

#[test]
fn an_item_that_is_read_twice() {
    assert_item_fault_found(
        "\tif found, ok := h.one(w, r, readItem, id); ok {\n",
        "\th.pool.Exec(r.Context(), readItem, id)\n\tif found, ok := h.one(w, r, readItem, id); ok {\n",
        &[
            "each request runs one statement: expected 5 statements that read, 3 that write, got PostgreSQL counted 9 and 3",
        ],
    );
}

#[test]
fn a_write_with_a_read_before_it_of_a_stack_without_a_mapper() {
    assert_item_fault_found(
        "\tif replaced, ok := h.one(w, r, replaceItem",
        "\th.pool.Exec(r.Context(), readItem, id)\n\tif replaced, ok := h.one(w, r, replaceItem",
        &["got PostgreSQL counted 6 and 3"],
    );
}

/// Acknowledges an item with this name, which only a load creates, and does not write it. PostgreSQL runs a statement all the
/// same.
const LOST: Patch = (
    FILE,
    "\tif created, ok := h.one(w, r, createItem",
    "\tif *input.Name == \"Load 196\" {\n\t\th.pool.Exec(r.Context(), readItem, 45000)\n\
     \t\trespondJSON(w, http.StatusCreated, item{1, *input.Name, *input.Price})\n\t\treturn\n\t}\n\
     \tif created, ok := h.one(w, r, createItem",
);

#[test]
fn one_write_of_many_that_is_lost_under_load() {
    let root = copy_with(&[LOST]);
    let options = format!(
        "--stack {STACK} --workload crud --heats 2 --heat-time 500ms --warm-up 200ms --start-timeout 20s"
    );
    let ended = root.run(&options);
    if ended.stdout.contains("unavailable") {
        return;
    }
    ended.says(&[
        "crud under load: each acknowledged write is in the database",
        "items created",
    ]);
}
