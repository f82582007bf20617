// Texts of the command line as values. All throw UsageError, one line that names the
// option, what it wants and what it got.

#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace mini::tools {

/// The most ranks that one minirun starts.
constexpr int kMaxRanks = 256;

/// Which of a rank's outputs something applies to: torchrun's "3", or "0:1,1:2" by local
/// rank. Bit 1 is stdout, bit 2 is stderr.
struct StreamChoice {
    int all = 0;
    std::map<int, int> by_rank = {};

    bool has(int local_rank, int bit) const {
        const auto own = by_rank.find(local_rank);
        return ((own == by_rank.end() ? all : own->second) & bit) != 0;
    }
    bool empty() const { return all == 0 && by_rank.empty(); }
};

/// A whole number between `low` and `high`. `alternative` is added to what is wanted.
int whole_number(const std::string& option, const std::string& text, int low, int high,
                 const std::string& alternative = "");

/// "4"; or "auto" or "cpu": one for each core.
int count_ranks(const std::string& text);

/// "2" or "2:2". A range such as "1:4" is refused: nodes do not come and go here.
int count_nodes(const std::string& text);

/// "0.5" seconds.
std::chrono::milliseconds seconds_value(const std::string& option,
                                        const std::string& text);

/// "3", or "0:1,1:2".
StreamChoice stream_choice(const std::string& option, const std::string& text);

/// "0,2".
std::set<int> rank_set(const std::string& option, const std::string& text);

/// "host:29500" or "[::1]:29500".
struct Endpoint {
    std::string host;
    int port = 0;
};
Endpoint endpoint(const std::string& option, const std::string& text);

}  // namespace mini::tools
