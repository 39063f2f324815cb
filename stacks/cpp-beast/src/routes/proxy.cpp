// A slow upstream, relayed.

#include <exception>
#include <string>
#include <utility>

#include "routes/routes.hpp"

namespace routes {

net::awaitable<http::message_generator> proxy(App& app, const Request& request) {
    if (!app.upstream) throw Failure(http::status::bad_gateway, "no UPSTREAM_URL");
    try {
        auto answer = co_await app.upstream->fetch();
        co_return relayed(request, answer.content_type, std::move(answer.body));
    } catch (const std::exception& error) {
        throw Failure(http::status::bad_gateway,
                      std::string("the upstream failed: ") + error.what());
    }
}

}  // namespace routes
