#include "parameters.hpp"

#include <charconv>
#include <string>
#include <system_error>

std::optional<std::int32_t> parse_number(std::string_view text, Range range) {
    std::int32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || rest != end) return std::nullopt;
    if (number < range.first || number > range.last) return std::nullopt;
    return number;
}

std::optional<std::int32_t> query_number(const Request& request, std::string_view name,
                                         Range range) {
    const auto parameters = request.url.params();
    const auto found = parameters.find(name);
    if (found == parameters.end()) return std::nullopt;
    const auto number = parse_number((*found).value, range);
    if (!number) {
        throw Failure(http::status::bad_request, std::string(name) + " must be from " +
                                                     std::to_string(range.first) + " to " +
                                                     std::to_string(range.last));
    }
    return number;
}
