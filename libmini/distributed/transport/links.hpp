// The links of a simulated or emulated cluster, read from a line of text.
//
//     100Gbit,5us                             every rank has its own link
//     100Gbit,5us; hosts of 8: 800Gbit,1us    the 8 ranks of a host share one link to
//                                             other hosts; 800Gbit,1us within a host
//     100Gbit,5us; rank 3 at 0.25             rank 3 has a quarter of the rate
//
//     rank a --- out port ===== rate, delay ===== in port --- rank b
//
// A message occupies the sender's out port for bytes / rate. It reaches the receiver's in
// port after the delay, and occupies this port for the same time. Messages queue at both
// ports (link_port.hpp). Between two ranks with different rates, the lower rate is used.

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace mini::dist {

/// The rate and the delay of a link.
struct LinkSpec {
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};  // one way
};

/// All links of a cluster.
struct Links {
    LinkSpec network;             // between hosts
    LinkSpec inside;              // between the ranks of one host
    int ranks_per_host = 1;       // 1: `inside` is not used
    std::map<int, double> rates;  // of each slow rank: its share of the link's rate
};

/// Parses text of the form above: rates from 1kbit to 1000Gbit a second (kbit, Mbit or
/// Gbit), and delays from 1us to 60s (us, ms or s), 0 if there is none. Throws UsageError
/// quoting the part that does not have this form.
Links parse_links(const std::string& text);

/// How a message travels from one rank to another.
struct Route {
    size_t out_port = 0, in_port = 0;  // out ports and in ports are numbered separately
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};
};

/// Returns the number of out ports of `world_size` ranks, which equals the number of in
/// ports.
size_t port_count(const Links& links, int world_size);

/// Returns how a message travels from rank `from` to rank `to`. REQUIRES: the ranks are
/// different.
Route route(const Links& links, int from, int to);

/// Returns the number of each rank's host, by rank; the first host is 0.
std::vector<int> hosts_of(const Links& links, int world_size);

}  // namespace mini::dist
