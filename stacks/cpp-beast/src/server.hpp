// The listening socket, from the start to SIGTERM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app.hpp"
#include "net.hpp"

/// Throws boost::system::system_error if the address is not free.
tcp::acceptor listen(net::io_context& io, const std::string& host, std::uint16_t port);

/// Serves until SIGTERM or SIGINT, then lets open requests finish.
net::awaitable<void> serve(tcp::acceptor acceptor, std::shared_ptr<App> app);
