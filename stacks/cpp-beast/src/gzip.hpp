// Compression of answers, by zlib.
#pragma once

#include <string>
#include <string_view>

/// Whether an Accept-Encoding header names gzip, with a weight other than 0.
bool accepts_gzip(std::string_view accept_encoding);

/// `text` in gzip's format, at zlib's default level.
std::string gzip(std::string_view text);
