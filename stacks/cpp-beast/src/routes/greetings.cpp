// Plain text and JSON.

#include <array>
#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "routes/routes.hpp"

namespace routes {

namespace {

struct Person {
    std::string name;
    std::string username;
};
BOOST_DESCRIBE_STRUCT(Person, (), (name, username))

/// Whether the media type, which parameters such as a charset may follow, is JSON's.
bool is_json(const Request& request) {
    const std::string_view content_type = request.message[http::field::content_type];
    auto media_type = content_type.substr(0, content_type.find(';'));
    media_type = media_type.substr(0, media_type.find_last_not_of(" \t") + 1);
    return beast::iequals(media_type, "application/json");
}

std::string text_member(const boost::json::object& object, std::string_view name) {
    const auto* member = object.if_contains(name);
    const auto* text = member ? member->if_string() : nullptr;
    if (!text) throw Failure(http::status::bad_request, std::string(name) + " must be a text");
    return {text->begin(), text->end()};
}

/// Reads the members one by one, because Boost.JSON's own conversion refuses an object that has
/// more of them.
Person parse_person(std::string_view body) {
    beast::error_code error;
    const auto value = boost::json::parse(body, error);
    const auto* object = value.if_object();
    if (error || !object) throw Failure(http::status::bad_request, "a JSON object, please");
    return {.name = text_member(*object, "name"), .username = text_member(*object, "username")};
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
    if (!is_json(request)) {
        throw Failure(http::status::unsupported_media_type, "application/json, please");
    }
    const auto person = parse_person(request.message.body());
    co_return text(request, "Hello, " + person.name + "!");
}

}  // namespace routes
