#pragma once

#include <string_view>

/// Writes one line to standard error; lines of different threads do not mix.
void log(std::string_view line);
