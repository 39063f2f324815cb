#include "upstream.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::chrono::seconds kTimeout(10);
constexpr std::chrono::seconds kIdleTimeout(60);

/// Whether the upstream has kept `stream` open: a read would then find nothing, and not an end or
/// an error.
bool is_alive(beast::tcp_stream& stream) {
    beast::error_code error;
    char next;
    stream.socket().non_blocking(true, error);
    stream.socket().receive(net::buffer(&next, 1), tcp::socket::message_peek, error);
    return error == net::error::would_block;
}

}  // namespace

Upstream::Upstream(net::any_io_executor executor, const std::string& url)
    : executor_(std::move(executor)) {
    const boost::urls::url_view parsed = boost::urls::parse_uri(url).value();
    const std::string_view target = parsed.encoded_target();
    host_ = parsed.host_address();
    port_ = parsed.has_port() ? std::string(parsed.port()) : "80";
    request_ = {http::verb::get, target.empty() ? "/" : target, 11};
    request_.set(http::field::host, parsed.encoded_host_and_port());
}

net::awaitable<Upstream::Answer> Upstream::fetch() {
    auto connection = take();
    // On the connection's strand: its timer and its socket may complete in two threads.
    const auto strand = connection->stream.get_executor();
    co_return co_await net::co_spawn(strand, exchange(*this, std::move(connection)),
                                     net::use_awaitable);
}

net::awaitable<Upstream::Answer> Upstream::exchange(Upstream& upstream,
                                                    std::shared_ptr<Connection> connection) {
    auto& stream = connection->stream;
    stream.expires_after(kTimeout);
    if (!stream.socket().is_open()) co_await upstream.connect(stream);
    co_await http::async_write(stream, upstream.request_, net::use_awaitable);
    http::response<http::string_body> response;
    co_await http::async_read(stream, connection->buffer, response, net::use_awaitable);
    if (response.keep_alive()) {
        stream.expires_never();
        upstream.keep(std::move(connection));
    }
    if (http::to_status_class(response.result()) != http::status_class::successful) {
        throw std::runtime_error("it answered " + std::to_string(response.result_int()));
    }
    co_return Answer{
        .content_type = response[http::field::content_type],
        .body = std::move(response.body()),
    };
}

net::awaitable<void> Upstream::connect(beast::tcp_stream& stream) {
    tcp::resolver resolver(stream.get_executor());
    const auto addresses = co_await resolver.async_resolve(host_, port_, net::use_awaitable);
    co_await stream.async_connect(addresses, net::use_awaitable);
    stream.socket().set_option(tcp::no_delay(true));
}

std::shared_ptr<Upstream::Connection> Upstream::take() {
    while (auto connection = pop()) {
        if (is_alive(connection->stream)) return connection;
    }
    return std::make_shared<Connection>(beast::tcp_stream(net::make_strand(executor_)));
}

std::shared_ptr<Upstream::Connection> Upstream::pop() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
}

void Upstream::keep(std::shared_ptr<Connection> connection) {
    const auto now = std::chrono::steady_clock::now();
    connection->idle_since = now;
    // Before the lock, so that their sockets are closed after it is released.
    std::vector<std::shared_ptr<Connection>> expired;
    const std::lock_guard lock(mutex_);
    while (!idle_.empty() && now - idle_.front()->idle_since > kIdleTimeout) {
        expired.push_back(std::move(idle_.front()));
        idle_.pop_front();
    }
    idle_.push_back(std::move(connection));
}
