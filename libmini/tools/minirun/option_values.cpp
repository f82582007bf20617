#include "libmini/tools/minirun/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tools/minirun/gpus.hpp"

namespace mini::tools {
namespace {

constexpr double kMaxSeconds = 3600;
constexpr int kMaxNodes = 4096;

// Splits "a,b,c" at commas; an empty text gives one empty part.
std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

}  // namespace

int whole_number(const std::string& option, const std::string& text, int low, int high,
                 const std::string& alternative) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc() || stop != end || value < low || value > high)
        throw UsageError(concat(option, " wants an integer from ", low, " to ", high,
                                alternative, ", not '", text, "'"));
    return value;
}

int count_ranks(const std::string& text) {
    const int gpus = text == "gpu" || text == "auto" ? count_gpus() : 0;
    if (gpus > 0) return std::min(gpus, kMaxRanks);
    if (text == "gpu")
        throw UsageError(
            "-n gpu: this machine has no GPU (/dev/nvidia0), or CUDA_VISIBLE_DEVICES "
            "hides it; give -n a number");
    if (text != "auto" && text != "cpu")
        return whole_number("-n", text, 1, kMaxRanks, " or \"auto\", \"gpu\" or \"cpu\"");
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(cores, 1, kMaxRanks);
}

int count_nodes(const std::string& text) {
    const size_t colon = text.find(':');
    const std::string count = text.substr(0, colon);
    if (colon != std::string::npos && text.substr(colon + 1) != count)
        throw UsageError(concat("--nnodes wants one number, not the range '", text,
                                "': nodes cannot join or leave a running job"));
    return whole_number("--nnodes", count, 1, kMaxNodes);
}

std::chrono::milliseconds seconds_value(const std::string& option,
                                        const std::string& text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, seconds);
    if (failure != std::errc() || stop != end ||
        !(seconds >= 0 && seconds <= kMaxSeconds))
        throw UsageError(concat(option, " wants seconds from 0 to ", kMaxSeconds,
                                ", not '", text, "'"));
    return std::chrono::milliseconds(std::llround(seconds * 1000));
}

StreamChoice stream_choice(const std::string& option, const std::string& text) {
    constexpr const char* kLegend =
        " (0 none, 1 stdout, 2 stderr, 3 both; or by local rank: 0:1,1:2)";
    StreamChoice choice;
    if (text.find(':') == std::string::npos) {
        choice.all = whole_number(option, text, 0, 3, kLegend);
        return choice;
    }
    for (const std::string& part : parts_of(text)) {
        const size_t colon = std::min(part.find(':'), part.size());
        const int rank = whole_number(concat(option, ": the local rank"),
                                      part.substr(0, colon), 0, kMaxRanks - 1);
        const std::string streams = part.substr(std::min(colon + 1, part.size()));
        choice.by_rank[rank] = whole_number(option, streams, 0, 3, kLegend);
    }
    return choice;
}

std::set<int> rank_set(const std::string& option, const std::string& text) {
    std::set<int> ranks;
    for (const std::string& part : parts_of(text))
        ranks.insert(whole_number(option, part, 0, kMaxRanks - 1));
    return ranks;
}

Endpoint endpoint(const std::string& option, const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw UsageError(concat(option, " wants HOST:PORT, not '", text, "'"));
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    return {host,
            whole_number(concat(option, ": the port"), text.substr(colon + 1), 1, 65535)};
}

}  // namespace mini::tools
