// SHA-256 of a file, over and over.

#include <string>
#include <utility>

#include "digest.hpp"
#include "parameters.hpp"
#include "routes/routes.hpp"

namespace routes {

namespace {

constexpr Range kRounds{.first = 1, .last = 1'000'000};

}  // namespace

net::awaitable<http::message_generator> hash(App& app, const Request& request) {
    const auto rounds = query_number(request, "rounds", kRounds);
    if (!rounds) throw Failure(http::status::bad_request, "rounds is missing");
    // 10,000 rounds hold a thread for milliseconds, so that they are kept off the threads that
    // serve connections.
    auto work = [&app, rounds = *rounds]() -> net::awaitable<std::string> {
        co_return digest_file(app.blob_path, rounds);
    };
    auto digest = co_await net::co_spawn(app.workers, work, net::use_awaitable);
    co_return text(request, std::move(digest));
}

}  // namespace routes
