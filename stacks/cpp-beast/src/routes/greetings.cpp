// Plain text and JSON.

#include <array>
#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "json_body.hpp"
#include "routes/routes.hpp"

namespace routes {

namespace {

struct Person {
    std::string name;
    std::string username;
};
BOOST_DESCRIBE_STRUCT(Person, (), (name, username))

std::string text_member(const boost::json::object& object, std::string_view name) {
    const auto* member = object.if_contains(name);
    const auto* text = member ? member->if_string() : nullptr;
    if (!text) throw Failure(http::status::bad_request, std::string(name) + " must be a text");
    return {text->begin(), text->end()};
}

/// Reads the members one by one, because Boost.JSON's own conversion refuses an object that has
/// more of them.
Person person_in(const boost::json::object& object) {
    return {.name = text_member(object, "name"), .username = text_member(object, "username")};
}

}  // namespace

net::awaitable<http::message_generator> plaintext(App&, const Request& request) {
    co_return text(request, "Hello, World!");
}

net::awaitable<http::message_generator> people(App&, const Request& request) {
    const std::array people{Person{.name = "John", .username = "Doe"}};
    co_return json(request, boost::json::serialize(boost::json::value_from(people)));
}

net::awaitable<http::message_generator> greet(App&, const Request& request) {
    const auto person = person_in(json_body(request));
    co_return text(request, "Hello, " + person.name + "!");
}

}  // namespace routes
