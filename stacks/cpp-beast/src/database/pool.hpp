// Connections to PostgreSQL that all requests share.
#pragma once

#include <memory>
#include <string>

#include "database/connection.hpp"
#include "net.hpp"

namespace database {

/// Connects when it is first asked, and again when a connection is lost.
class Pool {
  public:
    Pool(net::any_io_executor executor, std::string url, int size);

    /// Waits for a free connection, and executes `statement` on it. Throws `Error`.
    net::awaitable<Rows> execute(const Statement& statement, const Parameters& parameters = {});

  private:
    /// A connection, or a null pointer: the right to open one.
    using Slot = std::unique_ptr<Connection>;

    class Lease;

    net::any_io_executor executor_;
    std::string url_;
    Channel<Slot> free_;
};

}  // namespace database
