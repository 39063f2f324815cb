#include "log.hpp"

#include <iostream>
#include <syncstream>

void log(std::string_view line) { std::osyncstream(std::cerr) << line << '\n'; }
