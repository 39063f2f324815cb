//! Faults planted in what a copy of a real stack does with items.

use super::{Fault, Patch, STACK, copy_with, fault};

tests! {
    an_item_that_is_kept,
    a_replacement_that_is_acknowledged_and_lost,
    a_new_item_that_is_acknowledged_and_lost,
    a_replacement_that_creates_an_item,
    a_deletion_that_always_succeeds,
    a_name_that_is_measured_in_bytes,
    a_price_without_a_limit,
    a_page_that_begins_with_the_id_itself,
    a_page_of_any_size,
    a_new_item_without_its_location,
    an_id_of_the_client,
    values_in_the_text_of_a_statement,
    an_item_that_is_read_twice,
    a_write_with_a_read_before_it_of_a_stack_without_a_mapper,
}

const FILE: &str = "items.go";

/// A fault in the stack's items.
fn item_fault(before: &'static str, after: &'static str, rule: &[&'static str]) -> Fault {
    fault("crud", &[(FILE, before, after)], rule)
}

fn an_item_that_is_kept() -> Fault {
    let patches = [
        (
            FILE,
            "type itemsHandler struct {",
            "var keptItems sync.Map\n\ntype itemsHandler struct {",
        ),
        (FILE, "\"strings\"\n", "\"strings\"\n\t\"sync\"\n"),
        (
            FILE,
            "\tif found, ok := h.one(w, r, readItem, id); ok {\n",
            "\tif found, ok := keptItems.Load(id); ok {\n\t\trespondJSON(w, http.StatusOK, found)\n\t\treturn\n\t}\n\
             \tif found, ok := h.one(w, r, readItem, id); ok {\n\t\tkeptItems.Store(id, found)\n",
        ),
    ];
    let rule = ["items are read for each request (this one was changed after the answer before)"];
    fault("crud", &patches, &rule)
}

fn a_replacement_that_is_acknowledged_and_lost() -> Fault {
    item_fault(
        "\"update items set name = $2, price = $3 where id = $1 returning id, name, price\"",
        "\"select id, $2::text, $3::integer from items where id = $1\"",
        &["a write is in the database when its answer comes"],
    )
}

fn a_new_item_that_is_acknowledged_and_lost() -> Fault {
    item_fault(
        "\"insert into items (name, price) values ($1, $2) returning id, name, price\"",
        "\"select max(id) + 1, $1::text, $2::integer from items\"",
        &[
            "a write is in the database when its answer comes",
            "got no such row",
        ],
    )
}

fn a_replacement_that_creates_an_item() -> Fault {
    item_fault(
        "\"update items set name = $2, price = $3 where id = $1 returning id, name, price\"",
        "\"insert into items values ($1, $2, $3) on conflict (id) do update set name = $2, price = $3 returning \
         id, name, price\"",
        &["PUT /items/", "expected status 404, got status 200"],
    )
}

fn a_deletion_that_always_succeeds() -> Fault {
    item_fault(
        "deleted.RowsAffected() == 0:",
        "deleted.RowsAffected() < 0:",
        &["DELETE /items/", "expected status 404, got status 204"],
    )
}

fn a_name_that_is_measured_in_bytes() -> Fault {
    item_fault(
        "length := utf8.RuneCountInString(*i.Name)",
        "_ = utf8.RuneCountInString\n\tlength := len(*i.Name)",
        &["a new item is created: expected status 201, got status 400"],
    )
}

fn a_price_without_a_limit() -> Fault {
    item_fault(
        "*i.Price >= 0 && *i.Price <= maxItemPrice",
        "*i.Price >= 0",
        &[
            "POST /items with the body `{\"name\":\"x\",\"price\":1000001}`",
            "expected status 400 or 422, got status 201",
        ],
    )
}

fn a_page_that_begins_with_the_id_itself() -> Fault {
    item_fault(
        "where id > $1 order",
        "where id >= $1 order",
        &["a page has the items above the id `after`, in their order"],
    )
}

fn a_page_of_any_size() -> Fault {
    item_fault(
        "limit < 1 || limit > maxPage",
        "limit < 1 || limit > 10*maxPage",
        &["GET /items?limit=101: a page that is not as agreed is refused"],
    )
}

fn a_new_item_without_its_location() -> Fault {
    item_fault(
        "w.Header().Set(\"Location\", fmt.Sprintf(\"/items/%d\", created.ID))",
        "_ = fmt.Sprint()",
        &["Location is the path of the new item", "got no Location"],
    )
}

fn an_id_of_the_client() -> Fault {
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
    fault("crud", &patches, &["an id in the body is not taken over"])
}

fn values_in_the_text_of_a_statement() -> Fault {
    item_fault(
        "h.one(w, r, createItem, input.Name, input.Price)",
        "h.one(w, r, fmt.Sprintf(\"insert into items (name, price) values ('%s', %d) returning id, name, price\", \
         *input.Name, *input.Price))",
        &["POST /items", "expected status 201, got status 500"],
    )
}

fn an_item_that_is_read_twice() -> Fault {
    item_fault(
        "\tif found, ok := h.one(w, r, readItem, id); ok {\n",
        "\th.pool.Exec(r.Context(), readItem, id)\n\tif found, ok := h.one(w, r, readItem, id); ok {\n",
        &[
            "each request runs one statement: expected 5 statements that read, 3 that write, got PostgreSQL counted 9 and 3",
        ],
    )
}

fn a_write_with_a_read_before_it_of_a_stack_without_a_mapper() -> Fault {
    item_fault(
        "\tif replaced, ok := h.one(w, r, replaceItem",
        "\th.pool.Exec(r.Context(), readItem, id)\n\tif replaced, ok := h.one(w, r, replaceItem",
        &["got PostgreSQL counted 6 and 3"],
    )
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
