#pragma once

#include <string_view>

/// The present time for a Date header. The text is valid until the thread's next call.
std::string_view http_date();
