#include "payload_worker.hpp"

#include <string>

namespace {

constexpr std::size_t kMailbox = 1024;

}  // namespace

PayloadWorker::PayloadWorker(net::any_io_executor executor)
    : mailbox_(std::make_shared<Mailbox>(executor, kMailbox)) {
    net::co_spawn(executor, run(mailbox_), net::detached);
}

net::awaitable<PayloadWorker::Payload> PayloadWorker::ask() {
    const auto reply = std::make_shared<Channel<Payload>>(mailbox_->get_executor(), 1);
    co_await mailbox_->async_send({}, reply, net::use_awaitable);
    co_return co_await reply->async_receive(net::use_awaitable);
}

net::awaitable<void> PayloadWorker::run(std::shared_ptr<Mailbox> mailbox) {
    for (;;) {
        const auto reply = co_await mailbox->async_receive(net::use_awaitable);
        reply->try_send(beast::error_code{}, payload());
    }
}

PayloadWorker::Payload PayloadWorker::payload() {
    static const std::string payload(1 << 20, 'd');
    return payload;
}
