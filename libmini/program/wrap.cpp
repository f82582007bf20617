#include "libmini/program/wrap.hpp"

#include <algorithm>
#include <sstream>

namespace mini {
namespace {

// Returns the column where the rest of a long line begins.
size_t rest_column(const std::string& line, size_t columns) {
    const size_t indent = line.find_first_not_of(' ');
    const size_t gap = line.find("  ", indent);
    const size_t last = line.find_first_not_of(' ', gap);
    const bool has_column = gap < columns && last < columns * 2 / 3;
    return has_column ? last : indent;
}

// Returns where to break the line: after a space or a bar between `start` and `columns`,
// else after the word that is too long.
size_t break_point(const std::string& line, size_t start, size_t columns) {
    for (const char* const separator : {" ", "|"}) {
        const bool is_bar = *separator == '|';  // which stays on the line
        const size_t found = line.find_last_of(separator, is_bar ? columns - 1 : columns);
        if (found != std::string::npos && found > start) return found + 1;
    }
    return std::min(line.find(' ', columns), line.size() - 1) + 1;
}

}  // namespace

std::string wrapped(const std::string& text, size_t columns) {
    std::istringstream lines(text);
    std::string result, line;
    while (std::getline(lines, line)) {
        line.erase(line.find_last_not_of(' ') + 1);
        while (line.size() > columns) {
            const size_t column = rest_column(line, columns);
            const size_t end = break_point(line, column, columns);
            std::string head = line.substr(0, end);
            head.erase(head.find_last_not_of(' ') + 1);
            const std::string rest = line.substr(end);
            if (rest.empty()) break;
            result += head + '\n';
            line = std::string(column, ' ') + rest;
        }
        result += line + '\n';
    }
    return result;
}

}  // namespace mini
