#include "templates.hpp"

#include <stdexcept>

namespace templates {

namespace {

constexpr auto kStrip = ctemplate::STRIP_WHITESPACE;

}  // namespace

void load() {
    ctemplate::Template::SetTemplateRootDirectory("templates");
    for (const std::string name : {"fortunes.tpl"}) {
        if (!ctemplate::LoadTemplate(name, kStrip)) {
            throw std::runtime_error("cannot load templates/" + name);
        }
    }
}

std::string render(const std::string& name, const ctemplate::TemplateDictionary& values) {
    std::string page;
    if (!ctemplate::ExpandTemplate(name, kStrip, &values, &page)) {
        throw std::runtime_error("cannot render templates/" + name);
    }
    return page;
}

}  // namespace templates
