// Pages of HTML: the files in the folder `templates`, by ctemplate.
#pragma once

#include <ctemplate/template.h>

#include <string>

namespace templates {

/// Reads and parses all of them. Throws std::runtime_error if one is missing or has a mistake.
void load();

/// Throws std::runtime_error if the file `name` was not loaded.
std::string render(const std::string& name, const ctemplate::TemplateDictionary& values);

}  // namespace templates
