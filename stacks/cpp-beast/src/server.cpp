#include "server.hpp"

#include <chrono>
#include <csignal>
#include <utility>

#include "log.hpp"
#include "session.hpp"

namespace {

using namespace std::chrono_literals;
using net::experimental::awaitable_operators::operator||;

/// Hundreds of clients may connect at once.
constexpr int kBacklog = 4096;
/// The pause after a failed accept: a process that is out of file descriptors would otherwise spin.
constexpr auto kAcceptPause = 100ms;
/// How long open requests may take after SIGTERM; the slow upstream needs half a second.
constexpr auto kDrainLimit = 800ms;
constexpr auto kDrainTick = 10ms;

net::awaitable<void> pause(std::chrono::milliseconds duration) {
    net::steady_timer timer(co_await net::this_coro::executor, duration);
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> accept_connections(tcp::acceptor& acceptor, std::shared_ptr<App> app) {
    for (;;) {
        // Each connection has a strand: its timer and its socket may complete in two threads.
        const net::any_io_executor strand = net::make_strand(acceptor.get_executor());
        auto [error, socket] =
            co_await acceptor.async_accept(strand, net::as_tuple(net::use_awaitable));
        if (error == net::error::operation_aborted) co_return;
        if (error) {
            log("cannot accept a connection: " + error.message());
            co_await pause(kAcceptPause);
            continue;
        }
        // It fails only on a connection that is gone already.
        socket.set_option(tcp::no_delay(true), error);
        net::co_spawn(strand, serve_connection(beast::tcp_stream(std::move(socket)), app),
                      net::detached);
    }
}

net::awaitable<void> drain(const App& app) {
    const auto deadline = std::chrono::steady_clock::now() + kDrainLimit;
    while (app.open_requests > 0 && std::chrono::steady_clock::now() < deadline) {
        co_await pause(kDrainTick);
    }
}

}  // namespace

tcp::acceptor listen(net::io_context& io, const std::string& host, std::uint16_t port) {
    const tcp::endpoint endpoint(net::ip::make_address(host), port);
    tcp::acceptor acceptor(io);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(kBacklog);
    return acceptor;
}

net::awaitable<void> serve(tcp::acceptor acceptor, std::shared_ptr<App> app) {
    net::signal_set signals(acceptor.get_executor(), SIGTERM, SIGINT);
    co_await (accept_connections(acceptor, app) || signals.async_wait(net::use_awaitable));
    app->stopping = true;
    acceptor.close();
    co_await drain(*app);
}
