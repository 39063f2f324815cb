// One mebibyte, written directly or handed over by the worker.

#include "routes/routes.hpp"

namespace routes {

net::awaitable<http::message_generator> payload(App&, const Request& request) {
    co_return octets(request, PayloadWorker::payload());
}

net::awaitable<http::message_generator> ping_pong(App& app, const Request& request) {
    const auto payload = co_await app.payload_worker.ask();
    co_return octets(request, payload);
}

}  // namespace routes
