// A body of any size, hashed as it comes.

#include "digest.hpp"
#include "routes/routes.hpp"

namespace routes {

net::awaitable<http::message_generator> upload(App&, const Request& request) {
    Sha256 sha256;
    if (request.body) {
        for (;;) {
            const auto piece = co_await request.body->next();
            if (piece.empty()) break;
            sha256.update(piece.data(), piece.size());
        }
    }
    co_return text(request, base64(sha256.finish()));
}

}  // namespace routes
