// Which handler answers which request.
#pragma once

#include "app.hpp"
#include "net.hpp"
#include "respond.hpp"

/// Whether the handler of this request reads the body itself, from `Request::body`.
bool streams_body(const http::request_header<>& header);

/// Never throws: a handler's failure becomes an answer.
net::awaitable<http::message_generator> route(App& app, const Request& request);
