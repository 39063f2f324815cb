// A coroutine that answers every message with one mebibyte.
#pragma once

#include <memory>
#include <span>

#include "net.hpp"

class PayloadWorker {
  public:
    using Payload = std::span<const char>;

    /// Starts it.
    explicit PayloadWorker(net::any_io_executor executor);

    net::awaitable<Payload> ask();

    static Payload payload();

  private:
    /// Shared with the worker, which may answer when the asker has gone.
    using Reply = std::shared_ptr<Channel<Payload>>;
    using Mailbox = Channel<Reply>;

    static net::awaitable<void> run(std::shared_ptr<Mailbox> mailbox);

    std::shared_ptr<Mailbox> mailbox_;
};
