// One connection.
#pragma once

#include <memory>

#include "app.hpp"
#include "net.hpp"

/// Answers requests until either side closes the connection.
net::awaitable<void> serve_connection(beast::tcp_stream stream, std::shared_ptr<App> app);
