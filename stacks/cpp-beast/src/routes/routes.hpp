// The handlers. They throw `Failure`.
#pragma once

#include "app.hpp"
#include "net.hpp"
#include "respond.hpp"

using Handler = net::awaitable<http::message_generator>(App&, const Request&);

namespace routes {

Handler plaintext;
Handler people;
Handler greet;
Handler files;
Handler products;
Handler upload;
Handler payload;
Handler ping_pong;
Handler hash;
Handler users;
Handler fortunes;
Handler list_items;
Handler read_item;
Handler create_item;
Handler replace_item;
Handler delete_item;
Handler proxy;

}  // namespace routes
