#include "date.hpp"

#include <array>
#include <ctime>

std::string_view http_date() {
    // RFC 9110, 5.6.7, as in "Sun, 06 Nov 1994 08:49:37 GMT". It changes once a second.
    thread_local std::array<char, 30> text;
    thread_local std::time_t formatted = -1;
    const std::time_t now = std::time(nullptr);
    if (now != formatted) {
        std::tm parts;
        gmtime_r(&now, &parts);
        std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        formatted = now;
    }
    return {text.data(), text.size() - 1};
}
