#include "router.hpp"

#include <array>
#include <exception>
#include <string>
#include <string_view>

#include "routes/routes.hpp"

namespace {

struct Route {
    http::verb method;
    std::string_view path;
    Handler* handler;
};

constexpr std::array kRoutes = {
    Route{http::verb::get, "/plaintext", routes::plaintext},
    Route{http::verb::get, "/json", routes::people},
    Route{http::verb::post, "/json", routes::greet},
    Route{http::verb::get, "/payload", routes::payload},
    Route{http::verb::get, "/ping-pong", routes::ping_pong},
    Route{http::verb::get, "/bytes", routes::hash},
    Route{http::verb::get, "/users", routes::users},
    Route{http::verb::get, "/fortunes", routes::fortunes},
    Route{http::verb::get, "/items", routes::list_items},
    Route{http::verb::post, "/items", routes::create_item},
    Route{http::verb::get, "/items/*", routes::read_item},
    Route{http::verb::put, "/items/*", routes::replace_item},
    Route{http::verb::delete_, "/items/*", routes::delete_item},
    Route{http::verb::get, "/proxy", routes::proxy},
};

/// Whether `path` is what a route has as its own, where an asterisk stands for one segment.
bool matches(std::string_view route, std::string_view path) {
    if (!route.ends_with('*')) return route == path;
    route.remove_suffix(1);
    return path.starts_with(route) && path.find('/', route.size()) == path.npos;
}

Handler* find(http::verb method, std::string_view path) {
    for (const auto& route : kRoutes) {
        if (route.method == method && matches(route.path, path)) return route.handler;
    }
    return nullptr;
}

/// "GET, POST"; empty if nothing is at `path`.
std::string allowed_methods(std::string_view path) {
    std::string allowed;
    for (const auto& route : kRoutes) {
        if (!matches(route.path, path)) continue;
        if (!allowed.empty()) allowed += ", ";
        allowed += http::to_string(route.method);
    }
    return allowed;
}

http::message_generator no_route(const Request& request, std::string_view path) {
    const auto allowed = allowed_methods(path);
    if (!allowed.empty()) return wrong_method(request, allowed);
    return failed(request, Failure(http::status::not_found, "there is nothing at this path"));
}

}  // namespace

net::awaitable<http::message_generator> route(App& app, const Request& request) {
    const std::string_view path = request.url.encoded_path();
    Handler* const handler = find(request.message.method(), path);
    if (!handler) co_return no_route(request, path);
    try {
        co_return co_await handler(app, request);
    } catch (const Failure& failure) {
        co_return failed(request, failure);
    } catch (const std::exception& error) {
        co_return failed(request, Failure(http::status::internal_server_error, error.what()));
    }
}
