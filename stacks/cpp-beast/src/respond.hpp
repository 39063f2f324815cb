// Requests and answers.
#pragma once

#include <boost/url/url_view.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "body_stream.hpp"
#include "net.hpp"

struct Request {
    http::request<http::string_body> message;
    /// The target of `message`, parsed.
    boost::urls::url_view url;
    /// A body that is not in `message`, because the handler reads it; null without one.
    BodyStream* body = nullptr;
};

/// Why a request is not answered as it asks. Thrown by handlers.
class Failure : public std::runtime_error {
  public:
    Failure(http::status status, const std::string& reason);

    http::status status() const { return status_; }

  private:
    http::status status_;
};

http::message_generator text(const Request& request, std::string body);
http::message_generator json(const Request& request, std::string body);
/// Compressed if the client accepts gzip.
http::message_generator compressed_json(const Request& request, std::string body);
/// A new resource, and where it is.
http::message_generator created(const Request& request, std::string_view location,
                                std::string body);
http::message_generator no_content(const Request& request);
http::message_generator html(const Request& request, std::string body);
http::message_generator relayed(const Request& request, std::string_view content_type,
                                std::string body);
/// `body` must outlive the answer.
http::message_generator octets(const Request& request, std::span<const char> body);
http::message_generator file(const Request& request, std::string_view content_type,
                             std::string_view etag, http::file_body::value_type body);
/// For a client that has what has this ETag.
http::message_generator not_modified(const Request& request, std::string_view etag);
/// Tells the client what it did wrong; what went wrong here is for the log.
http::message_generator failed(const Request& request, const Failure& failure);
/// `allowed` are the methods that there are, separated by commas.
http::message_generator wrong_method(const Request& request, std::string_view allowed);
