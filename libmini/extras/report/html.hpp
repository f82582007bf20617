// Pieces of HTML.

#pragma once

#include <string>
#include <vector>

namespace mini::report {

/// Returns a section with a heading; "" if the body is empty.
std::string section(const std::string& heading, const std::string& body);

/// Returns a table. The cells are HTML, and the first column is aligned to the left.
std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows);

/// Returns a whole page with its style, for light and dark screens.
std::string page(const std::string& title, const std::string& body);

}  // namespace mini::report
