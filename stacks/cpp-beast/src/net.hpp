// Asio and Beast, under the names that their documentation uses.
#pragma once

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using net::ip::tcp;

/// A queue between coroutines that may run in different threads.
template <class Message>
using Channel = net::experimental::concurrent_channel<void(beast::error_code, Message)>;
