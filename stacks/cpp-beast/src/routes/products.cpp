// Products that are computed, as JSON that is compressed.

#include <array>
#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parameters.hpp"
#include "routes/routes.hpp"

namespace routes {

namespace {

constexpr Range kFrom{.first = 1, .last = 1'000'000};
constexpr std::int32_t kCount = 100;
constexpr std::array<std::string_view, 5> kCategories{"books", "garden", "kitchen", "music",
                                                      "tools"};

struct Product {
    std::int32_t id;
    std::string name;
    std::string_view category;
    std::int32_t price;
    std::int32_t stock;
};
BOOST_DESCRIBE_STRUCT(Product, (), (id, name, category, price, stock))

Product product(std::int32_t id) {
    return {.id = id,
            .name = "Product " + std::to_string(id),
            .category = kCategories[id % kCategories.size()],
            .price = id * 37 % 10'007,
            .stock = id * 31 % 101};
}

}  // namespace

net::awaitable<http::message_generator> products(App&, const Request& request) {
    const auto from = query_number(request, "from", kFrom);
    if (!from) throw Failure(http::status::bad_request, "from is missing");
    std::vector<Product> products;
    products.reserve(kCount);
    for (std::int32_t id = *from; id < *from + kCount; ++id) products.push_back(product(id));
    co_return compressed_json(request, boost::json::serialize(boost::json::value_from(products)));
}

}  // namespace routes
