// The slow upstream, over connections that are kept.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "net.hpp"

class Upstream {
  public:
    struct Answer {
        std::string content_type;
        std::string body;
    };

    /// Throws boost::system::system_error if `url` is none.
    Upstream(net::any_io_executor executor, const std::string& url);

    /// Sends one request. Throws std::runtime_error if the upstream does not answer with success.
    net::awaitable<Answer> fetch();

  private:
    struct Connection {
        beast::tcp_stream stream;
        beast::flat_buffer buffer;
        std::chrono::steady_clock::time_point idle_since{};
    };

    static net::awaitable<Answer> exchange(Upstream& upstream,
                                           std::shared_ptr<Connection> connection);
    net::awaitable<void> connect(beast::tcp_stream& stream);
    /// The connection that was used last, or a new one that is not connected.
    std::shared_ptr<Connection> take();
    /// The connection that was used last, which the upstream may have closed, or a null pointer.
    std::shared_ptr<Connection> pop();
    /// Also closes the connections that nobody has used for a while.
    void keep(std::shared_ptr<Connection> connection);

    net::any_io_executor executor_;
    std::string host_;
    std::string port_;
    http::request<http::empty_body> request_;

    std::mutex mutex_;
    /// The one that was used last is at the back.
    std::deque<std::shared_ptr<Connection>> idle_;
};
