#include "libmini/program/sizes.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

constexpr size_t kFactor = 4;
constexpr size_t kLargestSize = size_t{1} << 40;  // * kFactor does not overflow

size_t parse_size(const std::string& text) {
    size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const std::string unit(rest, end);
    const size_t scale = unit.empty()  ? 1
                         : unit == "K" ? size_t{1} << 10
                         : unit == "M" ? size_t{1} << 20
                         : unit == "G" ? size_t{1} << 30
                                       : 0;
    if (error != std::errc() || scale == 0 || number == 0 ||
        number > kLargestSize / scale)
        throw UsageError("--sizes: \"", text, "\" is not a size from 1 to ",
                         kLargestSize >> 30, "G; sizes are like 4, 64K, 25M or 4:100M");
    return number * scale;
}

std::vector<size_t> parse_range(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return {parse_size(text)};
    const size_t first = parse_size(text.substr(0, colon));
    const size_t last = parse_size(text.substr(colon + 1));
    std::vector<size_t> sizes;
    for (size_t bytes = first; bytes < last; bytes *= kFactor) sizes.push_back(bytes);
    if (first <= last) sizes.push_back(last);
    return sizes;
}

}  // namespace

std::vector<size_t> parse_sizes(const std::string& text) {
    std::vector<size_t> sizes;
    std::istringstream in(text);
    for (std::string range; std::getline(in, range, ',');)
        for (const size_t bytes : parse_range(range))
            sizes.push_back(std::max(bytes / sizeof(float), size_t{1}) * sizeof(float));
    if (sizes.empty()) throw UsageError("--sizes: \"", text, "\" contains no size");
    return sizes;
}

}  // namespace mini
