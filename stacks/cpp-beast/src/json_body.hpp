// JSON that a request brings.
#pragma once

#include <boost/json.hpp>

#include "respond.hpp"

/// Throws `Failure` if the body is no JSON object.
boost::json::object json_body(const Request& request);
