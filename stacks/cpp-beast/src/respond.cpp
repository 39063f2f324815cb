#include "respond.hpp"

#include <utility>

#include "date.hpp"
#include "gzip.hpp"
#include "log.hpp"

namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";

template <class Body>
http::response<Body> head(const Request& request, http::status status) {
    http::response<Body> response(status, request.message.version());
    response.keep_alive(request.message.keep_alive());
    response.set(http::field::date, http_date());
    return response;
}

template <class Body>
http::response<Body> answer(const Request& request, http::status status,
                            std::string_view content_type, typename Body::value_type body) {
    auto response = head<Body>(request, status);
    response.set(http::field::content_type, content_type);
    response.body() = std::move(body);
    response.prepare_payload();
    return response;
}

}  // namespace

Failure::Failure(http::status status, const std::string& reason)
    : std::runtime_error(reason), status_(status) {}

http::message_generator text(const Request& request, std::string body) {
    return relayed(request, kPlainText, std::move(body));
}

http::message_generator json(const Request& request, std::string body) {
    return relayed(request, kJson, std::move(body));
}

http::message_generator compressed_json(const Request& request, std::string body) {
    const bool compresses = accepts_gzip(request.message[http::field::accept_encoding]);
    auto response = answer<http::string_body>(request, http::status::ok, kJson,
                                              compresses ? gzip(body) : std::move(body));
    if (compresses) response.set(http::field::content_encoding, "gzip");
    response.set(http::field::vary, "Accept-Encoding");
    return response;
}

http::message_generator created(const Request& request, std::string_view location,
                                std::string body) {
    auto response =
        answer<http::string_body>(request, http::status::created, kJson, std::move(body));
    response.set(http::field::location, location);
    return response;
}

http::message_generator no_content(const Request& request) {
    return head<http::empty_body>(request, http::status::no_content);
}

http::message_generator html(const Request& request, std::string body) {
    return relayed(request, "text/html; charset=utf-8", std::move(body));
}

http::message_generator relayed(const Request& request, std::string_view content_type,
                                std::string body) {
    return answer<http::string_body>(request, http::status::ok, content_type, std::move(body));
}

http::message_generator octets(const Request& request, std::span<const char> body) {
    using Body = http::span_body<const char>;
    return answer<Body>(request, http::status::ok, "application/octet-stream",
                        {body.data(), body.size()});
}

http::message_generator file(const Request& request, std::string_view content_type,
                             std::string_view etag, http::file_body::value_type body) {
    auto response =
        answer<http::file_body>(request, http::status::ok, content_type, std::move(body));
    response.set(http::field::etag, etag);
    return response;
}

http::message_generator not_modified(const Request& request, std::string_view etag) {
    auto response = head<http::empty_body>(request, http::status::not_modified);
    response.set(http::field::etag, etag);
    return response;
}

http::message_generator failed(const Request& request, const Failure& failure) {
    std::string reason = failure.what();
    if (http::to_status_class(failure.status()) == http::status_class::server_error) {
        log(reason);
        reason.clear();
    }
    return answer<http::string_body>(request, failure.status(), kPlainText, std::move(reason));
}

http::message_generator wrong_method(const Request& request, std::string_view allowed) {
    auto response =
        answer<http::string_body>(request, http::status::method_not_allowed, kPlainText, "");
    response.set(http::field::allow, allowed);
    return response;
}
