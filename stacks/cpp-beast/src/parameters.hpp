// Numbers in the target of a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "respond.hpp"

struct Range {
    std::int32_t first;
    std::int32_t last;
};

/// None if `text` is no number or out of range.
std::optional<std::int32_t> parse_number(std::string_view text, Range range);

/// The parameter `name` of the query, or none if it is missing. Throws `Failure` if it is no number
/// or out of range.
std::optional<std::int32_t> query_number(const Request& request, std::string_view name,
                                         Range range);
