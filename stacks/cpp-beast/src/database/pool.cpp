#include "database/pool.hpp"

#include <utility>

namespace database {

/// A slot that goes back to the pool.
class Pool::Lease {
  public:
    Lease(Pool& pool, Slot slot) : slot(std::move(slot)), pool_(pool) {}

    ~Lease() {
        if (slot && !slot->is_idle()) slot.reset();
        pool_.free_.try_send(beast::error_code{}, std::move(slot));
    }

    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Slot slot;

  private:
    Pool& pool_;
};

Pool::Pool(net::any_io_executor executor, std::string url, int size)
    : executor_(executor), url_(std::move(url)), free_(executor, static_cast<std::size_t>(size)) {
    for (int slot = 0; slot < size; ++slot) free_.try_send(beast::error_code{}, nullptr);
}

net::awaitable<Rows> Pool::execute(const Statement& statement, const Parameters& parameters) {
    Lease lease(*this, co_await free_.async_receive(net::use_awaitable));
    if (!lease.slot) lease.slot = co_await Connection::open(executor_, url_);
    co_return co_await lease.slot->execute(statement, parameters);
}

}  // namespace database
