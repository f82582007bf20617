#include "libmini/distributed/transport/links.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <regex>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr int kMaxRanksPerHost = 1024;
constexpr double kMinShare = 0.001;  // so that a frame takes hours at most, not years

// The valid rates, in bytes a second, and delays, in nanoseconds. With a lower rate a
// frame would take minutes; a shorter delay is too short for the clock.
constexpr double kMinRate = 1e3 / 8, kMaxRate = 1e12 / 8;
constexpr double kMinDelay = 1e3, kMaxDelay = 60e9;

double scale_of(const std::string& unit) {
    if (unit == "kbit") return 1e3 / 8;
    if (unit == "Mbit") return 1e6 / 8;
    if (unit == "Gbit") return 1e9 / 8;
    if (unit == "us") return 1e3;
    if (unit == "ms") return 1e6;
    return 1e9;  // s
}

// Parses a number of a pattern, such as "0.25". Returns std::nullopt if `low` <= number
// <= `high` does not hold for number * scale.
std::optional<double> number_in(const std::string& digits, double low, double high,
                                double scale = 1) {
    double number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, number);
    number *= scale;
    const bool is_valid = error == std::errc() && rest == end && low <= number;
    return is_valid && number <= high ? std::optional(number) : std::nullopt;
}

// "100Mbit,5ms"
LinkSpec parse_link(const std::string& text) {
    static const std::regex kLink("([0-9.e+-]+)([kMG]bit)(,([0-9.e+-]+)(us|ms|s))?");
    if (text.empty())
        throw UsageError("links: the rate of the network is missing, as in 100Gbit,5us");
    std::smatch part;
    std::optional<double> rate, delay = 0.0;
    if (std::regex_match(text, part, kLink))
        rate = number_in(part[1], kMinRate, kMaxRate, scale_of(part[2]));
    if (rate && part[3].matched)
        delay = number_in(part[4], kMinDelay, kMaxDelay, scale_of(part[5]));
    if (!rate || !delay)
        throw UsageError(
            "the link \"", text,
            "\" is not like 100Mbit,5ms: a rate from 1kbit to 1000Gbit a second "
            "(kbit, Mbit or Gbit), and, if it has one, a delay from 1us to 60s "
            "(us, ms or s)");
    return {*rate, std::chrono::nanoseconds(std::llround(*delay))};
}

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Adds "hosts of 8: 800Gbit,1us" or "rank 3 at 0.25" to `links`.
void add_part(const std::string& text, Links& links) {
    static const std::regex kHosts("hosts of *([0-9]{1,9}) *:(.*)");
    static const std::regex kSlowRank("rank *([0-9]{1,9}) *at *([0-9.e+-]+)");
    std::smatch part;
    if (std::regex_match(text, part, kHosts)) {
        links.ranks_per_host = std::stoi(part[1]);
        links.inside = parse_link(trimmed(part[2]));
        if (1 <= links.ranks_per_host && links.ranks_per_host <= kMaxRanksPerHost) return;
    } else if (std::regex_match(text, part, kSlowRank)) {
        const auto share = number_in(part[2], kMinShare, 1);
        if (share) links.rates[std::stoi(part[1])] = *share;
        if (share) return;
    }
    throw UsageError("links: \"", text,
                     "\" is not like \"hosts of 8: 800Gbit,1us\" or \"rank 3 at "
                     "0.25\", with a share from 0.001 to 1");
}

double rate_share(const Links& links, int rank) {
    const auto found = links.rates.find(rank);
    return found == links.rates.end() ? 1.0 : found->second;
}

}  // namespace

Links parse_links(const std::string& text) {
    Links links;
    size_t end = text.find(';');
    links.network = parse_link(trimmed(text.substr(0, end)));
    while (end != std::string::npos) {
        const size_t begin = end + 1;
        end = text.find(';', begin);
        add_part(trimmed(text.substr(begin, end - begin)), links);
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
