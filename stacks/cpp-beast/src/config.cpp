#include "config.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

std::optional<std::string> text(const char* name) {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

template <class Number>
Number number(const char* name, Number fallback) {
    const auto value = text(name);
    if (!value) return fallback;
    Number parsed{};
    const char* end = value->data() + value->size();
    const auto [rest, error] = std::from_chars(value->data(), end, parsed);
    if (error != std::errc{} || rest != end) {
        throw std::invalid_argument(std::string(name) + "=" + *value + " is not a number");
    }
    return parsed;
}

}  // namespace

Config Config::from_env() {
    const int available = static_cast<int>(std::thread::hardware_concurrency());
    return {
        .host = text("HOST").value_or("127.0.0.1"),
        .port = number<std::uint16_t>("PORT", 8080),
        .cpus = std::max(1, number("CPUS", available)),
        .pool_size = std::max(1, number("POOL_SIZE", 16)),
        .blob_path = text("BLOB_PATH").value_or(""),
        .static_dir = text("STATIC_DIR"),
        .database_url = text("DATABASE_URL"),
        .upstream_url = text("UPSTREAM_URL"),
    };
}
