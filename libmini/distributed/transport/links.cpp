#include "libmini/distributed/transport/links.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr int kMaxRanksPerHost = 1024;
constexpr double kMinShare = 0.001;  // so that a frame takes hours at most, not years

struct Unit {
    const char* name;
    double scale;
};

// A quantity with a unit, and its valid range. With a lower rate a frame would take
// minutes; a shorter delay is too short for the clock.
struct Quantity {
    Unit units[3];
    double low, high;
};
constexpr Quantity kRate{
    {{"kbit", 1e3 / 8}, {"Mbit", 1e6 / 8}, {"Gbit", 1e9 / 8}}, 1e3 / 8, 1e12 / 8};
constexpr Quantity kDelay{{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}, 1e3, 60e9};

// Parses a number with a unit. Returns std::nullopt for other text, NaN included, and for
// a number out of range.
std::optional<double> parse_quantity(std::string_view text, const Quantity& quantity) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc()) return std::nullopt;
    for (const Unit& unit : quantity.units) {
        const double value = number * unit.scale;
        if (std::string_view(rest, end) == unit.name && quantity.low <= value &&
            value <= quantity.high)
            return value;
    }
    return std::nullopt;
}

// "100Mbit,5ms"
LinkSpec parse_link(std::string_view text) {
    if (text.empty())
        throw UsageError("links: the rate of the network is missing, as in 100Gbit,5us");
    const size_t comma = text.find(',');
    const auto rate = parse_quantity(text.substr(0, comma), kRate);
    const auto delay = comma == std::string_view::npos
                           ? std::optional(0.0)
                           : parse_quantity(text.substr(comma + 1), kDelay);
    if (!rate || !delay)
        throw UsageError(
            concat("the link \"", text,
                   "\" is not like 100Mbit,5ms: a rate from 1kbit to 1000Gbit a second "
                   "(kbit, Mbit or Gbit), and, if it has one, a delay from 1us to 60s "
                   "(us, ms or s)"));
    return {*rate, std::chrono::nanoseconds(std::llround(*delay))};
}

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Removes `word` from the beginning of `text`. Returns whether `text` began with `word`.
bool skip(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text = trimmed(text.substr(word.size()));
    return true;
}

// Removes a number from the beginning of `text` and returns it; std::nullopt if there is
// none.
template <typename T>
std::optional<T> take_number(std::string_view& text) {
    T number{};
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text = trimmed(text.substr(static_cast<size_t>(end - text.data())));
    return number;
}

[[noreturn]] void throw_wrong(std::string_view part, const char* expected) {
    throw UsageError(concat("links: \"", part, "\" is not like ", expected));
}

// "hosts of 8: 800Gbit,1us"
void add_hosts(std::string_view part, Links& links) {
    std::string_view rest = part;
    skip(rest, "hosts of");
    const auto ranks = take_number<int>(rest);
    if (!ranks || *ranks < 1 || *ranks > kMaxRanksPerHost || !skip(rest, ":"))
        throw_wrong(part, "\"hosts of 8: 800Gbit,1us\"");
    links.ranks_per_host = *ranks;
    links.inside = parse_link(rest);
}

// "rank 3 at 0.25"
void add_slow_rank(std::string_view part, Links& links) {
    std::string_view rest = part;
    skip(rest, "rank");
    const auto rank = take_number<int>(rest);
    const bool has_share = rank && *rank >= 0 && skip(rest, "at");
    const auto share = has_share ? take_number<double>(rest) : std::nullopt;
    if (!share || !(*share >= kMinShare) || !(*share <= 1) || !rest.empty())
        throw_wrong(part, "\"rank 3 at 0.25\", with a share from 0.001 to 1");
    links.rates[*rank] = *share;
}

double rate_share(const Links& links, int rank) {
    const auto found = links.rates.find(rank);
    return found == links.rates.end() ? 1.0 : found->second;
}

}  // namespace

Links parse_links(const std::string& text) {
    Links links;
    std::string_view rest = text;
    const size_t end = rest.find(';');
    links.network = parse_link(trimmed(rest.substr(0, end)));
    rest.remove_prefix(std::min(end, rest.size()));
    while (!rest.empty()) {
        rest.remove_prefix(1);  // the semicolon
        const std::string_view part = trimmed(rest.substr(0, rest.find(';')));
        rest.remove_prefix(std::min(rest.find(';'), rest.size()));
        if (part.starts_with("hosts of"))
            add_hosts(part, links);
        else if (part.starts_with("rank"))
            add_slow_rank(part, links);
        else
            throw_wrong(part, "\"hosts of 8: 800Gbit,1us\" or \"rank 3 at 0.25\"");
    }
    return links;
}

// Ports are numbered host by host. Each host has one port to the network, followed by one
// port per rank for messages inside the host.
size_t port_count(const Links& links, int world_size) {
    const int hosts = (world_size - 1) / links.ranks_per_host + 1;
    return static_cast<size_t>(hosts * (links.ranks_per_host + 1));
}

Route route(const Links& links, int from, int to) {
    const bool is_inside = from / links.ranks_per_host == to / links.ranks_per_host;
    const LinkSpec& spec = is_inside ? links.inside : links.network;
    const double share = std::min(rate_share(links, from), rate_share(links, to));

    const auto port_of = [&](int rank) {
        const int first = rank / links.ranks_per_host * (links.ranks_per_host + 1);
        return static_cast<size_t>(is_inside ? first + 1 + rank % links.ranks_per_host
                                             : first);
    };
    return {port_of(from), port_of(to), spec.bytes_per_second * share, spec.delay};
}

std::vector<int> hosts_of(const Links& links, int world_size) {
    std::vector<int> hosts;
    for (int rank = 0; rank < world_size; ++rank)
        hosts.push_back(rank / links.ranks_per_host);
    return hosts;
}

}  // namespace mini::dist
