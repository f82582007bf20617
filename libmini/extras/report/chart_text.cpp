#include "libmini/extras/report/chart_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mini::report {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// A character of a UTF-8 text. `code` is 0 for a byte that is no UTF-8.
struct Character {
    uint32_t code = 0;
    size_t bytes = 1;
};

// Returns how many bytes a character has, by its first byte; 0 if it cannot be the first.
size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    if (first >= 0xF0 && first < 0xF5) return 4;
    return 0;
}

// Returns the first character of a text that is not empty.
Character first_of(std::string_view text) {
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by length
    const auto first = static_cast<unsigned char>(text[0]);
    const size_t length = length_of(first);
    if (length == 1) return {first, 1};
    if (length == 0 || length > text.size()) return {};
    uint32_t code = first & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0u) != 0x80) return {};
        code = (code << 6) | (next & 0x3Fu);
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    if (code < kLeast[length] || is_surrogate || code > 0x10FFFF) return {};
    return {code, length};
}

// Returns whether XML 1.0 forbids a character.
bool is_forbidden(uint32_t code) {
    return code < 0x20 || code == 0x7F || code == 0xFFFE || code == 0xFFFF;
}

// Returns the width of a character as a multiple of the font size.
double width_of(uint32_t code) {
    const auto is_in = [code](std::string_view letters) {
        return code < 0x80 && letters.find(static_cast<char>(code)) != letters.npos;
    };
    if (is_in("ijlI.,:;'|")) return 0.35;
    if (is_in(" ftr()[]/\\-!")) return 0.42;
    if (is_in("mwMW%@")) return 1.0;
    if (is_in("+=<>~^#&_") || (code >= 'A' && code <= 'Z')) return 0.84;
    return code < 0x80 ? 0.65 : 1.1;
}

}  // namespace

double text_width(std::string_view text, double font_size) {
    double width = 0;
    while (!text.empty()) {
        const Character character = first_of(text);
        width += width_of(character.code);
        text.remove_prefix(character.bytes);
    }
    return width * font_size;
}

std::vector<std::string> wrapped(std::string_view text, double width, double font_size) {
    std::vector<std::string> lines;
    std::string line;
    const auto fits = [&](const std::string& more) {
        return text_width(line + more, font_size) <= width;
    };
    const auto end_line = [&] {
        if (!line.empty()) lines.push_back(line);
        line.clear();
    };
    while (!text.empty()) {
        const size_t end = std::min(text.find_first_of(" \n\t"), text.size());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;

        // Put the word on this line or on the next; divide a word that fits on no line.
        const std::string joined = fmt::format("{}{}", line.empty() ? "" : " ", word);
        if (fits(joined)) {
            line += joined;
            continue;
        }
        end_line();
        while (!word.empty()) {
            const std::string letter(word.substr(0, first_of(word).bytes));
            if (!line.empty() && !fits(letter)) end_line();
            line += letter;
            word.remove_prefix(letter.size());
        }
    }
    end_line();
    return lines;
}

std::string escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const Character character = first_of(text);
        switch (character.code) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            case '\n':
            case '\r':
            case '\t': result += ' '; break;
            default:
                if (is_forbidden(character.code))
                    result += kReplacement;
                else
                    result += text.substr(0, character.bytes);
        }
        text.remove_prefix(character.bytes);
    }
    return result;
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

}  // namespace mini::report
