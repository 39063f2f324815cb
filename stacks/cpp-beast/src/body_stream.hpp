// The body of a request that is read in pieces.
#pragma once

#include <span>
#include <vector>

#include "net.hpp"

class BodyStream {
  public:
    /// `head` has read a request's header and nothing of its body. `buffer` has what was read after
    /// the header.
    BodyStream(beast::tcp_stream& stream, beast::flat_buffer& buffer,
               http::request_parser<http::string_body>&& head);

    /// The next bytes, which are valid until the next call; none at the end, and after an error.
    net::awaitable<std::span<const char>> next();

    /// Why the body could not be read.
    beast::error_code error() const { return error_; }
    /// Whether the body was read to its end.
    bool is_done() const { return parser_.is_done(); }

  private:
    beast::tcp_stream& stream_;
    beast::flat_buffer& buffer_;
    http::request_parser<http::buffer_body> parser_;
    std::vector<char> piece_;
    beast::error_code error_;
};
