#include "body_stream.hpp"

#include <utility>

namespace {

constexpr std::size_t kPieceSize = 32 << 10;

}  // namespace

BodyStream::BodyStream(beast::tcp_stream& stream, beast::flat_buffer& buffer,
                       http::request_parser<http::string_body>&& head)
    : stream_(stream), buffer_(buffer), parser_(std::move(head)), piece_(kPieceSize) {
    // Beast reads as much at a time as the buffer has room for.
    buffer_.reserve(kPieceSize);
}

net::awaitable<std::span<const char>> BodyStream::next() {
    if (error_ || parser_.is_done()) co_return std::span<const char>();
    auto& body = parser_.get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    const auto [error, read] =
        co_await http::async_read(stream_, buffer_, parser_, net::as_tuple(net::use_awaitable));
    // A full piece with more of the body to come.
    if (error && error != http::error::need_buffer) error_ = error;
    co_return std::span<const char>(piece_.data(), piece_.size() - body.size);
}
