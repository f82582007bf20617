#include "libmini/distributed/transport/links.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr int kMaxRanksPerHost = 1024;
constexpr double kMinShare = 0.001;  // so that a frame takes hours at most, not years

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

LinkSpec link_of(std::string_view text) {
    const auto spec = parse_link(std::string(text));
    if (!spec)
        throw UsageError("links: the rate of the network is missing, as in 100Gbit,5us");
    return *spec;
}

// "hosts of 8: 800Gbit,1us"
void add_hosts(std::string_view part, Links& links) {
    std::string_view rest = part;
    skip(rest, "hosts of");
    const auto ranks = take_number<int>(rest);
    if (!ranks || *ranks < 1 || *ranks > kMaxRanksPerHost || !skip(rest, ":"))
        throw_wrong(part, "\"hosts of 8: 800Gbit,1us\"");
    links.ranks_per_host = *ranks;
    links.inside = link_of(rest);
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
    links.network = link_of(trimmed(rest.substr(0, end)));
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
