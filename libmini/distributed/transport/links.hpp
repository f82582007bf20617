// The links of a cluster, simulated or emulated, from a line of text.
//
//     100Gbit,5us                               every rank has a link of its own
//     100Gbit,5us; hosts of 8: 800Gbit,1us     8 ranks of a host share the link to other hosts
//     100Gbit,5us; rank 3 at 0.25               rank 3 sends and receives at a quarter of the rate
//
//     rank a --- out port ===== rate, delay ===== in port --- rank b
//
// A message occupies the sender's port for bytes / rate, and the receiver's port, a delay
// later, for as long; messages queue at both (link_port.hpp). The rate is that of the slower
// port.

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "libmini/distributed/transport/link_spec.hpp"

namespace mini::dist {

/// All links of a cluster.
struct Links {
    LinkSpec network;             // between hosts
    LinkSpec inside;              // between the ranks of one host
    int ranks_per_host = 1;       // 1: `inside` is not used
    std::map<int, double> rates;  // of slow ranks: the share of the rate that they reach
};

/// Throws UsageError for anything but the form above, quoting the part that is wrong.
Links parse_links(const std::string& text);

/// How a message travels from one rank to another.
struct Route {
    size_t out_port = 0, in_port = 0;  // out ports and in ports are counted apart
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};
};

/// The number of out ports, and of in ports, of `world_size` ranks.
size_t port_count(const Links& links, int world_size);

/// REQUIRES: `from` and `to` are different ranks.
Route route(const Links& links, int from, int to);

/// For each rank its host, counted from 0.
std::vector<int> hosts_of(const Links& links, int world_size);

}  // namespace mini::dist
