// Rows from PostgreSQL, in a page of HTML.

#include <ctemplate/template.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "routes/routes.hpp"
#include "templates.hpp"

namespace routes {

namespace {

constexpr database::Statement kAllFortunes{
    .name = "all_fortunes",
    .sql = "select id, message from fortune",
};

struct Fortune {
    std::int32_t id;
    std::string message;
};

net::awaitable<std::vector<Fortune>> all_fortunes(database::Pool& pool) {
    const auto rows = co_await pool.execute(kAllFortunes);
    std::vector<Fortune> fortunes;
    fortunes.reserve(rows.size() + 1);
    for (int row = 0; row < rows.size(); ++row) {
        fortunes.push_back({.id = rows.number_at(row, 0), .message = std::string(rows.at(row, 1))});
    }
    co_return fortunes;
}

const ctemplate::StaticTemplateString kFortune = STS_INIT(kFortune, "FORTUNE");
const ctemplate::StaticTemplateString kId = STS_INIT(kId, "ID");
const ctemplate::StaticTemplateString kMessage = STS_INIT(kMessage, "MESSAGE");

std::string page(const std::vector<Fortune>& fortunes) {
    ctemplate::TemplateDictionary values("fortunes");
    for (const auto& fortune : fortunes) {
        auto* const row = values.AddSectionDictionary(kFortune);
        row->SetIntValue(kId, fortune.id);
        row->SetValue(kMessage, fortune.message);
    }
    return templates::render("fortunes.tpl", values);
}

}  // namespace

net::awaitable<http::message_generator> fortunes(App& app, const Request& request) {
    if (!app.database) throw Failure(http::status::service_unavailable, "no DATABASE_URL");
    try {
        auto fortunes = co_await all_fortunes(*app.database);
        fortunes.push_back({.id = 0, .message = "Additional fortune added at request time."});
        std::ranges::sort(fortunes, {}, &Fortune::message);
        co_return html(request, page(fortunes));
    } catch (const database::Error& error) {
        throw Failure(http::status::service_unavailable,
                      std::string("cannot read the fortunes: ") + error.what());
    }
}

}  // namespace routes
