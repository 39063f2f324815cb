#include "router.hpp"

#include <array>
#include <exception>
#include <string>
#include <string_view>

#include "routes/routes.hpp"

namespace {

enum class BodyUse {
    kWhole,
    kStreamed,
};

struct Route {
    http::verb method;
    std::string_view path;
    Handler* handler;
    BodyUse body_use = BodyUse::kWhole;
};

constexpr std::array kRoutes = {
    Route{http::verb::get, "/plaintext", routes::plaintext},
    Route{http::verb::get, "/json", routes::people},
    Route{http::verb::post, "/json", routes::greet},
    Route{http::verb::get, "/static/**", routes::files},
    Route{http::verb::get, "/products", routes::products},
    Route{http::verb::post, "/upload", routes::upload, BodyUse::kStreamed},
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

/// Whether `path` is what a route has as its own, where an asterisk stands for one segment and two
/// for any number of them.
bool matches(std::string_view route, std::string_view path) {
    if (!route.ends_with('*')) return route == path;
    if (route.ends_with("**")) return path.starts_with(route.substr(0, route.size() - 2));
    route.remove_suffix(1);
    return path.starts_with(route) && path.find('/', route.size()) == path.npos;
}

const Route* find(http::verb method, std::string_view path) {
    for (const auto& route : kRoutes) {
        if (route.method == method && matches(route.path, path)) return &route;
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

bool streams_body(const http::request_header<>& header) {
    const std::string_view target = header.target();
    const Route* const route = find(header.method(), target.substr(0, target.find('?')));
    return route && route->body_use == BodyUse::kStreamed;
}

net::awaitable<http::message_generator> route(App& app, const Request& request) {
    const std::string_view path = request.url.encoded_path();
    const Route* const route = find(request.message.method(), path);
    if (!route) co_return no_route(request, path);
    try {
        co_return co_await route->handler(app, request);
    } catch (const Failure& failure) {
        co_return failed(request, failure);
    } catch (const std::exception& error) {
        co_return failed(request, Failure(http::status::internal_server_error, error.what()));
    }
}
