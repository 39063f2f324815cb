#include "session.hpp"

#include <boost/url/parse.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "body_stream.hpp"
#include "respond.hpp"
#include "router.hpp"

namespace {

/// For a request and its answer, and so for an idle connection too: longer than clients and load
/// balancers usually keep one.
constexpr std::chrono::seconds kTimeout(65);

constexpr std::uint64_t kBodyLimit = 1 << 20;
/// For a body that is not kept.
constexpr std::uint64_t kStreamLimit = 16 << 20;

using Parser = http::request_parser<http::string_body>;

class OpenRequest {
  public:
    explicit OpenRequest(App& app) : app_(app) { ++app_.open_requests; }
    ~OpenRequest() { --app_.open_requests; }
    OpenRequest(const OpenRequest&) = delete;
    OpenRequest& operator=(const OpenRequest&) = delete;

  private:
    App& app_;
};

/// Whether a client may still read an answer after `error`: what it sent is at fault, and not the
/// connection.
bool is_clients_fault(beast::error_code error) {
    static const auto& http_errors = beast::error_code(http::error::bad_method).category();
    return error.category() == http_errors && error != http::error::end_of_stream &&
           error != http::error::partial_message;
}

http::status status_for(beast::error_code error) {
    if (error == http::error::body_limit) return http::status::payload_too_large;
    if (error == http::error::header_limit) return http::status::request_header_fields_too_large;
    return http::status::bad_request;
}

http::message_generator refuse(beast::error_code error) {
    Request request;
    request.message.keep_alive(false);
    return failed(request, Failure(status_for(error), error.message()));
}

/// Parses what `buffer` has of a body that is kept, most often all of it: a read of a short body
/// would only cost a turn of the event loop.
beast::error_code begin_body(beast::flat_buffer& buffer, Parser& parser) {
    if (parser.content_length() > kBodyLimit) return http::error::body_limit;
    parser.body_limit(kBodyLimit);
    parser.eager(true);
    beast::error_code error;
    buffer.consume(parser.put(buffer.data(), error));
    return error == http::error::need_more ? beast::error_code() : error;
}

net::awaitable<http::message_generator> respond(App& app, beast::error_code read_error,
                                                http::request<http::string_body>&& message,
                                                BodyStream* body) {
    if (read_error) co_return refuse(read_error);
    Request request{.message = std::move(message), .url = {}, .body = body};
    if (app.stopping) request.message.keep_alive(false);
    const auto url = boost::urls::parse_uri_reference(request.message.target());
    if (!url) co_return failed(request, Failure(http::status::bad_request, "no valid target"));
    request.url = *url;
    auto response = co_await route(app, request);
    if (body && body->error()) co_return refuse(body->error());
    co_return response;
}

}  // namespace

net::awaitable<void> serve_connection(beast::tcp_stream stream, std::shared_ptr<App> app) {
    beast::flat_buffer buffer;
    bool keep_alive = true;
    while (keep_alive) {
        stream.expires_after(kTimeout);
        Parser parser;
        // The smaller limit of a body that is kept follows in `begin_body`.
        parser.body_limit(kStreamLimit);
        auto [read_error, read] = co_await http::async_read_header(
            stream, buffer, parser, net::as_tuple(net::use_awaitable));
        std::optional<BodyStream> body;
        http::request<http::string_body> message;
        if (!read_error && !parser.is_done()) {
            if (streams_body(parser.get())) {
                message.base() = parser.get().base();
                body.emplace(stream, buffer, std::move(parser));
            } else {
                read_error = begin_body(buffer, parser);
                if (!read_error && !parser.is_done()) {
                    std::tie(read_error, read) = co_await http::async_read(
                        stream, buffer, parser, net::as_tuple(net::use_awaitable));
                }
            }
        }
        if (!body) message = parser.release();
        if (read_error && !is_clients_fault(read_error)) co_return;

        const OpenRequest open(*app);
        auto response =
            co_await respond(*app, read_error, std::move(message), body ? &*body : nullptr);
        keep_alive = response.keep_alive() && (!body || body->is_done());
        const auto [write_error, written] = co_await beast::async_write(
            stream, std::move(response), net::as_tuple(net::use_awaitable));
        if (write_error) co_return;
    }
    beast::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}
