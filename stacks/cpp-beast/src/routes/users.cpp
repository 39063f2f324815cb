// Rows from PostgreSQL.

#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "routes/routes.hpp"

namespace routes {

namespace {

constexpr database::Statement kFirstUsers{
    .name = "first_users",
    .sql = "select id, email from users order by id limit 10",
};

struct User {
    std::int32_t id;
    std::string email;
};
BOOST_DESCRIBE_STRUCT(User, (), (id, email))

net::awaitable<std::vector<User>> first_users(database::Pool& pool) {
    const auto rows = co_await pool.execute(kFirstUsers);
    std::vector<User> users;
    users.reserve(rows.size());
    for (int row = 0; row < rows.size(); ++row) {
        users.push_back({.id = rows.number_at(row, 0), .email = std::string(rows.at(row, 1))});
    }
    co_return users;
}

}  // namespace

net::awaitable<http::message_generator> users(App& app, const Request& request) {
    if (!app.database) throw Failure(http::status::service_unavailable, "no DATABASE_URL");
    try {
        const auto users = co_await first_users(*app.database);
        co_return json(request, boost::json::serialize(boost::json::value_from(users)));
    } catch (const database::Error& error) {
        throw Failure(http::status::service_unavailable,
                      std::string("cannot read the users: ") + error.what());
    }
}

}  // namespace routes
