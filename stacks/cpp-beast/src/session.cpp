#include "session.hpp"

#include <boost/url/parse.hpp>
#include <chrono>
#include <utility>

#include "respond.hpp"
#include "router.hpp"

namespace {

/// For a request and its answer, and so for an idle connection too: longer than clients and load
/// balancers usually keep one.
constexpr std::chrono::seconds kTimeout(65);

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

net::awaitable<http::message_generator> respond(App& app, beast::error_code read_error,
                                                http::request<http::string_body> message) {
    if (read_error) co_return refuse(read_error);
    Request request{.message = std::move(message), .url = {}};
    if (app.stopping) request.message.keep_alive(false);
    const auto url = boost::urls::parse_uri_reference(request.message.target());
    if (!url) co_return failed(request, Failure(http::status::bad_request, "no valid target"));
    request.url = *url;
    co_return co_await route(app, request);
}

}  // namespace

net::awaitable<void> serve_connection(beast::tcp_stream stream, std::shared_ptr<App> app) {
    beast::flat_buffer buffer;
    bool keep_alive = true;
    while (keep_alive) {
        stream.expires_after(kTimeout);
        Parser parser;
        const auto [read_error, read] =
            co_await http::async_read(stream, buffer, parser, net::as_tuple(net::use_awaitable));
        if (read_error && !is_clients_fault(read_error)) co_return;

        const OpenRequest open(*app);
        auto response = co_await respond(*app, read_error, parser.release());
        keep_alive = response.keep_alive();
        const auto [write_error, written] = co_await beast::async_write(
            stream, std::move(response), net::as_tuple(net::use_awaitable));
        if (write_error) co_return;
    }
    beast::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}
