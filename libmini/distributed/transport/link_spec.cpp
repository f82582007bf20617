#include "libmini/distributed/transport/link_spec.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

struct Unit {
    const char* name;
    double scale;
};
constexpr Unit kRates[] = {{"kbit", 1e3 / 8}, {"Mbit", 1e6 / 8}, {"Gbit", 1e9 / 8}};
constexpr Unit kTimes[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

// The valid range of a rate (in bytes per second) or of a delay (in nanoseconds). With a
// lower rate a frame would take minutes; a shorter delay is too short for the clock.
struct Range {
    double low, high;

    bool has(double value) const { return low <= value && value <= high; }  // not NaN
};
constexpr Range kRateRange{1e3 / 8, 1e12 / 8};
constexpr Range kDelayRange{1e3, 60e9};

// Parses a number with one of `units`. Returns NaN for any other text.
double parse_quantity(std::string_view text, std::span<const Unit> units) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc()) return kNone;
    for (const Unit& unit : units)
        if (std::string_view(rest, end) == unit.name) return number * unit.scale;
    return kNone;
}

}  // namespace

std::optional<LinkSpec> parse_link(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const size_t comma = text.find(',');
    const double rate = parse_quantity(text.substr(0, comma), kRates);
    double delay = 0;
    bool is_right = kRateRange.has(rate);
    if (comma != std::string::npos) {
        delay = parse_quantity(text.substr(comma + 1), kTimes);
        is_right &= kDelayRange.has(delay);
    }
    if (!is_right)
        throw UsageError(
            concat("the link \"", text,
                   "\" is not like 100Mbit,5ms: a rate from 1kbit to 1000Gbit a second "
                   "(kbit, Mbit or Gbit), and, if it has one, a delay from 1us to 60s "
                   "(us, ms or s)"));
    return LinkSpec{rate, std::chrono::nanoseconds(std::llround(delay))};
}

}  // namespace mini::dist
