// Which handler answers which request.
#pragma once

#include "app.hpp"
#include "net.hpp"
#include "respond.hpp"

/// Never throws: a handler's failure becomes an answer.
net::awaitable<http::message_generator> route(App& app, const Request& request);
