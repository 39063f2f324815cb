// The slow upstream, over connections that are kept.
#pragma once

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
    };

    static net::awaitable<Answer> exchange(Upstream& upstream,
                                           std::shared_ptr<Connection> connection);
    net::awaitable<void> connect(beast::tcp_stream& stream);
    /// An idle connection, or a new one that is not connected.
    std::shared_ptr<Connection> take();
    void keep(std::shared_ptr<Connection> connection);

    net::any_io_executor executor_;
    std::string host_;
    std::string port_;
    http::request<http::empty_body> request_;

    std::mutex mutex_;
    std::deque<std::shared_ptr<Connection>> idle_;
};
