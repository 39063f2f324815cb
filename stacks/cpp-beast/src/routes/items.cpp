// Rows of PostgreSQL: read, listed, created, replaced and deleted.

#include <algorithm>
#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_body.hpp"
#include "parameters.hpp"
#include "routes/routes.hpp"

namespace routes {

namespace {

constexpr database::Statement kRead{
    .name = "read_item",
    .sql = "select id, name, price from items where id = $1",
};
constexpr database::Statement kList{
    .name = "list_items",
    .sql = "select id, name, price from items where id > $1 order by id limit $2",
};
constexpr database::Statement kCreate{
    .name = "create_item",
    .sql = "insert into items (name, price) values ($1, $2) returning id, name, price",
};
constexpr database::Statement kReplace{
    .name = "replace_item",
    .sql = "update items set name = $2, price = $3 where id = $1 returning id, name, price",
};
constexpr database::Statement kDelete{
    .name = "delete_item",
    .sql = "delete from items where id = $1",
};

constexpr std::int32_t kMaxId = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kDefaultPage = 20;
constexpr std::int32_t kMaxPage = 100;
constexpr std::int64_t kMaxPrice = 1'000'000;
constexpr std::ptrdiff_t kMaxName = 100;

struct Item {
    std::int32_t id;
    std::string name;
    std::int32_t price;
};
BOOST_DESCRIBE_STRUCT(Item, (), (id, name, price))

/// What a client says of an item, as PostgreSQL takes it.
struct Draft {
    std::string name;
    std::string price;
};

bool is_name(std::string_view text) {
    // Each character of UTF-8 has one byte that continues none.
    const auto characters =
        std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xC0) != 0x80; });
    // libpq ends a text at a NUL, and PostgreSQL has none with one.
    return characters >= 1 && characters <= kMaxName && text.find('\0') == text.npos;
}

Draft draft_in(const boost::json::object& object) {
    const auto* name = object.if_contains("name");
    if (!name || !name->is_string() || !is_name(name->get_string())) {
        throw Failure(http::status::bad_request, "name must be a text of 1 to 100 characters");
    }
    const auto* price = object.if_contains("price");
    if (!price || !price->is_int64() || price->get_int64() < 0 || price->get_int64() > kMaxPrice) {
        throw Failure(http::status::bad_request, "price must be from 0 to 1000000");
    }
    return {.name = std::string(name->get_string()), .price = std::to_string(price->get_int64())};
}

Failure no_item() { return Failure(http::status::not_found, "no such item"); }

/// The id at the end of the path.
std::string id_of(const Request& request) {
    const auto id = parse_number(request.url.segments().back(), {.first = 1, .last = kMaxId});
    if (!id) throw no_item();
    return std::to_string(*id);
}

net::awaitable<database::Rows> execute(App& app, const database::Statement& statement,
                                       const database::Parameters& parameters) {
    if (!app.database) throw Failure(http::status::service_unavailable, "no DATABASE_URL");
    try {
        co_return co_await app.database->execute(statement, parameters);
    } catch (const database::Error& error) {
        throw Failure(http::status::service_unavailable,
                      std::string("cannot read or write the items: ") + error.what());
    }
}

std::vector<Item> items_in(const database::Rows& rows) {
    std::vector<Item> items;
    items.reserve(rows.size());
    for (int row = 0; row < rows.size(); ++row) {
        items.push_back({.id = rows.number_at(row, 0),
                         .name = std::string(rows.at(row, 1)),
                         .price = rows.number_at(row, 2)});
    }
    return items;
}

/// The item that a statement reads or writes.
net::awaitable<Item> one(App& app, const database::Statement& statement,
                         const database::Parameters& parameters) {
    auto items = items_in(co_await execute(app, statement, parameters));
    if (items.empty()) throw no_item();
    co_return std::move(items.front());
}

std::string json_of(const auto& value) {
    return boost::json::serialize(boost::json::value_from(value));
}

}  // namespace

net::awaitable<http::message_generator> list_items(App& app, const Request& request) {
    const auto after = query_number(request, "after", {.first = 0, .last = kMaxId}).value_or(0);
    const auto limit =
        query_number(request, "limit", {.first = 1, .last = kMaxPage}).value_or(kDefaultPage);
    const database::Parameters page{std::to_string(after), std::to_string(limit)};
    co_return json(request, json_of(items_in(co_await execute(app, kList, page))));
}

net::awaitable<http::message_generator> read_item(App& app, const Request& request) {
    const database::Parameters id{id_of(request)};
    co_return json(request, json_of(co_await one(app, kRead, id)));
}

net::awaitable<http::message_generator> create_item(App& app, const Request& request) {
    const auto draft = draft_in(json_body(request));
    const database::Parameters values{draft.name, draft.price};
    const auto item = co_await one(app, kCreate, values);
    co_return created(request, "/items/" + std::to_string(item.id), json_of(item));
}

net::awaitable<http::message_generator> replace_item(App& app, const Request& request) {
    const auto id = id_of(request);
    const auto draft = draft_in(json_body(request));
    const database::Parameters values{id, draft.name, draft.price};
    co_return json(request, json_of(co_await one(app, kReplace, values)));
}

net::awaitable<http::message_generator> delete_item(App& app, const Request& request) {
    const database::Parameters id{id_of(request)};
    const auto rows = co_await execute(app, kDelete, id);
    if (rows.affected() == 0) throw no_item();
    co_return no_content(request);
}

}  // namespace routes
