#include "json_body.hpp"

#include <string_view>
#include <utility>

namespace {

/// Whether the media type, which parameters such as a charset may follow, is JSON's.
bool is_json(const Request& request) {
    const std::string_view content_type = request.message[http::field::content_type];
    auto media_type = content_type.substr(0, content_type.find(';'));
    media_type = media_type.substr(0, media_type.find_last_not_of(" \t") + 1);
    return beast::iequals(media_type, "application/json");
}

}  // namespace

boost::json::object json_body(const Request& request) {
    if (!is_json(request)) {
        throw Failure(http::status::unsupported_media_type, "application/json, please");
    }
    beast::error_code error;
    auto value = boost::json::parse(request.message.body(), error);
    if (error || !value.is_object()) {
        throw Failure(http::status::bad_request, "a JSON object, please");
    }
    return std::move(value.get_object());
}
