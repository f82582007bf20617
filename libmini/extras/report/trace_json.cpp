// The text of a trace: the Trace Event Format of Chrome. A slice is an event of phase X,
// a moment one of phase i; the phases s and f are the ends of a flow, and M names a lane.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/trace.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

double microseconds(int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
}

int64_t nanoseconds(const ordered_json& microseconds) {
    return static_cast<int64_t>(microseconds.get<double>() * 1e3 + 0.5);
}

// Returns the earliest time of all ranks; 0 if there is none.
int64_t origin_of(const std::vector<RankTrace>& ranks) {
    int64_t origin = std::numeric_limits<int64_t>::max();
    for (const RankTrace& rank : ranks) {
        for (const Slice& slice : rank.slices) origin = std::min(origin, slice.begin);
        for (const Moment& moment : rank.moments) origin = std::min(origin, moment.time);
    }
    return origin == std::numeric_limits<int64_t>::max() ? 0 : origin;
}

// Returns the arguments of an event, without those that are -1.
ordered_json arguments(const std::vector<std::pair<const char*, int64_t>>& all) {
    ordered_json args = ordered_json::object();
    for (const auto& [name, value] : all)
        if (value >= 0) args[name] = value;
    return args;
}

// Collects the events of a trace file.
class Writing {
  public:
    explicit Writing(int64_t origin) : origin_(origin) {}

    void name(const char* what, int rank, int lane, const std::string& name) {
        events_.push_back({{"ph", "M"},
                           {"name", what},
                           {"pid", rank},
                           {"tid", lane},
                           {"args", {{"name", name}}}});
    }
    void add(int rank, const Slice& slice) {
        ordered_json event = at("X", rank, slice.lane, slice.begin, slice.name);
        event["dur"] = microseconds(slice.end - slice.begin);
        event["args"] = arguments({{"step", slice.step},
                                   {"bucket", slice.bucket},
                                   {"bytes", slice.bytes},
                                   {"sequence", slice.sequence}});
        events_.push_back(event);
    }
    void add(int rank, const Moment& moment) {
        ordered_json event = at("i", rank, Lane::kCompute, moment.time, moment.name);
        event["s"] = "t";
        event["args"] = arguments({{"bucket", moment.bucket}, {"bytes", moment.bytes}});
        events_.push_back(event);
    }
    // Adds a flow from the start of one slice to the end of another. It ends a nanosecond
    // early, so that it ends within its slice.
    void flow(int from, const Slice& first, int to, const Slice& second) {
        ordered_json begin = at("s", from, first.lane, first.begin, "all_reduce");
        ordered_json end = at("f", to, second.lane,
                              std::max(second.begin, second.end - 1), "all_reduce");
        begin["cat"] = end["cat"] = "flow";
        begin["id"] = end["id"] = ++flows_;
        end["bp"] = "e";
        events_.push_back(begin);
        events_.push_back(end);
    }
    const ordered_json& events() const { return events_; }

  private:
    ordered_json at(const char* phase, int rank, Lane lane, int64_t time,
                    const std::string& name) const {
        return {{"ph", phase},
                {"pid", rank},
                {"tid", static_cast<int>(lane)},
                {"ts", microseconds(time - origin_)},
                {"name", name}};
    }

    int64_t origin_;
    int64_t flows_ = 0;
    ordered_json events_ = ordered_json::array();
};

// Returns the all-reduce with this sequence number, if the rank has it.
std::optional<Slice> all_reduce_of(const RankTrace& rank, int64_t sequence) {
    const auto found = std::ranges::find(rank.slices, sequence, &Slice::sequence);
    if (found == rank.slices.end()) return std::nullopt;
    return *found;
}

// Adds a flow for each all-reduce from each rank to the next one.
void add_flows(Writing& writing, const std::vector<RankTrace>& ranks) {
    if (ranks.size() < 2) return;
    for (size_t i = 0; i < ranks.size(); ++i) {
        const RankTrace& next = ranks[(i + 1) % ranks.size()];
        for (const Slice& slice : ranks[i].slices) {
            if (!slice.name.starts_with("all_reduce")) continue;
            if (const auto there = all_reduce_of(next, slice.sequence))
                writing.flow(ranks[i].rank, slice, next.rank, *there);
        }
    }
}

// Adds a slice or a moment to the rank to which it belongs.
void read_event(const ordered_json& event, int64_t origin,
                std::vector<RankTrace>& ranks) {
    const auto phase = event.at("ph").get<std::string>();
    if (phase != "X" && phase != "i") return;
    const auto rank =
        std::ranges::find(ranks, event.at("pid").get<int>(), &RankTrace::rank);
    if (rank == ranks.end()) throw BadFile("trace: a rank without a clock");
    const ordered_json& args = event.at("args");
    const auto number = [&](const char* name) { return args.value(name, int64_t{-1}); };
    const int64_t time = origin + nanoseconds(event.at("ts"));
    if (phase == "i")
        rank->moments.push_back(
            {event.at("name"), time, number("bucket"), number("bytes")});
    else
        rank->slices.push_back({.name = event.at("name"),
                                .lane = Lane{event.at("tid").get<int>()},
                                .begin = time,
                                .end = time + nanoseconds(event.at("dur")),
                                .step = number("step"),
                                .bucket = number("bucket"),
                                .bytes = number("bytes"),
                                .sequence = number("sequence")});
}

}  // namespace

std::string trace_json(const std::vector<RankTrace>& ranks) {
    const int64_t origin = origin_of(ranks);
    Writing writing(origin);
    ordered_json clocks = ordered_json::array();
    for (const RankTrace& rank : ranks) {
        clocks.push_back({{"rank", rank.rank}, {"offset_ns", rank.offset}});
        writing.name("process_name", rank.rank, 0, concat("rank ", rank.rank));
        writing.name("thread_name", rank.rank, 0, "compute");
        writing.name("thread_name", rank.rank, 1, "communication");
        for (const Slice& slice : rank.slices) writing.add(rank.rank, slice);
        for (const Moment& moment : rank.moments) writing.add(rank.rank, moment);
    }
    add_flows(writing, ranks);
    const ordered_json trace{{"displayTimeUnit", "ms"},
                             {"otherData", {{"origin_ns", origin}, {"clocks", clocks}}},
                             {"traceEvents", writing.events()}};
    return trace.dump() + "\n";
}

std::vector<RankTrace> read_trace(const std::string& text) {
    try {
        const auto trace = ordered_json::parse(text);
        const ordered_json& other = trace.at("otherData");
        const int64_t origin = other.value("origin_ns", int64_t{0});
        std::vector<RankTrace> ranks;
        for (const ordered_json& clock : other.at("clocks"))
            ranks.push_back({.rank = clock.at("rank"),
                             .offset = clock.at("offset_ns"),
                             .slices = {},
                             .moments = {}});
        for (const ordered_json& event : trace.at("traceEvents"))
            read_event(event, origin, ranks);
        return ranks;
    } catch (const ordered_json::exception& error) {
        throw BadFile("trace: ", error.what());
    }
}

}  // namespace mini::report
