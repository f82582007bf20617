// Parses option values. Each function throws UsageError with one line that contains the
// option, the valid values and the actual text.

#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace mini::tools {

/// The maximum number of ranks that one minirun starts.
constexpr int kMaxRanks = 256;

/// The output streams that --tee or --redirects selects: torchrun's "3" for all ranks, or
/// "0:1,1:2" by local rank. 1 is stdout, 2 is stderr, 3 is both.
struct StreamChoice {
    int all = 0;
    std::map<int, int> by_rank = {};

    /// Returns whether stdout (`bit` 1) or stderr (`bit` 2) of the rank is selected.
    bool has(int local_rank, int bit) const {
        const auto own = by_rank.find(local_rank);
        return ((own == by_rank.end() ? all : own->second) & bit) != 0;
    }
    bool empty() const { return all == 0 && by_rank.empty(); }
};

/// Parses an integer in [low, high]. `alternative` is appended to the valid values in the
/// error message.
int whole_number(const std::string& option, const std::string& text, int low, int high,
                 const std::string& alternative = "");

/// Parses a number of ranks, e.g. "4". "cpu" means one rank per core; "gpu" one rank per
/// GPU; "auto" means "gpu" if the machine has a GPU, else "cpu", as in torchrun.
int count_ranks(const std::string& text);

/// Parses a number of nodes: "2" or "2:2". Rejects a range such as "1:4", because nodes
/// cannot join or leave a running job.
int count_nodes(const std::string& text);

/// Parses seconds, e.g. "0.5".
std::chrono::milliseconds seconds_value(const std::string& option,
                                        const std::string& text);

/// Parses a selection of output streams: "3" or "0:1,1:2".
StreamChoice stream_choice(const std::string& option, const std::string& text);

/// Parses a list of local ranks, e.g. "0,2".
std::set<int> rank_set(const std::string& option, const std::string& text);

/// An address, e.g. "host:29500" or "[::1]:29500".
struct Endpoint {
    std::string host;
    int port = 0;
};

/// Parses an address. Removes the brackets of an IPv6 host.
Endpoint endpoint(const std::string& option, const std::string& text);

}  // namespace mini::tools
