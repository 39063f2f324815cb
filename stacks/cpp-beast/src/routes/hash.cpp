// SHA-256 of a file, over and over.

#include <charconv>
#include <cstdint>
#include <string>

#include "digest.hpp"
#include "routes/routes.hpp"

namespace routes {

namespace {

constexpr std::uint32_t kMaxRounds = 1'000'000;

std::uint32_t rounds_of(const Request& request) {
    std::uint32_t rounds = 0;
    const auto parameters = request.url.params();
    if (const auto found = parameters.find("rounds"); found != parameters.end()) {
        const std::string value = (*found).value;
        const char* end = value.data() + value.size();
        const auto [rest, error] = std::from_chars(value.data(), end, rounds);
        if (error != std::errc{} || rest != end) rounds = 0;
    }
    if (rounds == 0 || rounds > kMaxRounds) {
        throw Failure(http::status::bad_request,
                      "rounds must be from 1 to " + std::to_string(kMaxRounds));
    }
    return rounds;
}

}  // namespace

net::awaitable<http::message_generator> hash(App& app, const Request& request) {
    const auto rounds = rounds_of(request);
    // 10,000 rounds hold a thread for milliseconds, so that they are kept off the threads that
    // serve connections.
    auto work = [&app, rounds]() -> net::awaitable<std::string> {
        co_return digest_file(app.blob_path, rounds);
    };
    auto digest = co_await net::co_spawn(app.workers, work, net::use_awaitable);
    co_return text(request, std::move(digest));
}

}  // namespace routes
