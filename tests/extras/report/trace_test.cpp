#include "libmini/extras/report/trace.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/extras/report/run_log.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using nlohmann::json;
using report::Lane, report::RankTrace;

namespace {

constexpr int64_t kSteps = 3;

using MakeReplica =
    std::function<std::unique_ptr<nn::Module>(nn::Module&, dist::ProcessGroup&)>;

std::unique_ptr<nn::Module> make_ddp(nn::Module& model, dist::ProcessGroup&) {
    return std::make_unique<parallel::DistributedDataParallel>(
        model, parallel::DDPOptions{.first_bucket_bytes = 20000, .bucket_cap_mb = 0.02});
}

std::unique_ptr<nn::Module> make_average(nn::Module& model, dist::ProcessGroup&) {
    return std::make_unique<parallel::AveragedModule>(model);
}

// Trains the ConvNet for kSteps on threads as ranks; returns the text of trace.json.
std::string trained(int world_size, const MakeReplica& make_replica) {
    const test::Folder folder;
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        nn::ConvNet model;
        const auto replica = make_replica(model, group);
        report::RunLog log(folder.path(), {.program = "p", .options = {}}, model,
                           dist::default_group());
        for (int64_t step = 0; step < kSteps; ++step) {
            {
                const EventSpan whole(&group.events(), "step", step);
                Tensor loss;
                {
                    const EventSpan span(&group.events(), "forward");
                    loss = cross_entropy((*replica)(Tensor::zeros({2, 1, 28, 28})),
                                         cpu_tensor(std::vector<int64_t>{1, 2}));
                }
                const EventSpan span(&group.events(), "backward");
                loss.backward();
            }
            log.add_step({.step = step});
        }
        log.add_epoch({.steps = kSteps});
    });
    std::ifstream file(folder / "trace.json");
    return {std::istreambuf_iterator<char>(file), {}};
}

double end_of(const json& event) {
    return event["ts"].get<double>() + event["dur"].get<double>();
}

// Returns a slice that overlaps another slice of its lane without being inside of it, or
// null.
json crossing(std::vector<json> slices) {
    std::ranges::stable_sort(slices, [](const json& a, const json& b) {
        return a["ts"] != b["ts"] ? a["ts"] < b["ts"] : a["dur"] > b["dur"];
    });
    std::vector<double> ends;
    for (const json& slice : slices) {
        // Times are in whole nanoseconds; sums of doubles are off by far less than that.
        while (!ends.empty() && ends.back() <= slice["ts"].get<double>() + 1e-4)
            ends.pop_back();
        if (!ends.empty() && end_of(slice) > ends.back() + 1e-4) return slice;
        ends.push_back(end_of(slice));
    }
    return nullptr;
}

// Checks, without the library's reader, what the format promises.
void check_format(const json& trace, int world_size) {
    std::map<std::pair<int, int>, std::vector<json>> lanes;
    std::map<int, std::pair<json, json>> flows;  // by id: begin and end
    for (const json& event : trace["traceEvents"]) {
        const std::string phase = event["ph"];
        if (phase == "X") lanes[{event["pid"], event["tid"]}].push_back(event);
        if (phase == "s") flows[event["id"]].first = event;
        if (phase == "f") flows[event["id"]].second = event;
    }
    CHECK(trace["otherData"]["clocks"].size() == static_cast<size_t>(world_size));
    CHECK(lanes.size() == static_cast<size_t>(2 * world_size));
    for (const auto& [lane, slices] : lanes) CHECK(crossing(slices).is_null());
    size_t all_reduces = 0;
    for (const json& slice : lanes[{0, 1}])
        all_reduces += slice["name"].get<std::string>().starts_with("all_reduce");
    CHECK(all_reduces > 0);
    CHECK(flows.size() ==
          (world_size > 1 ? all_reduces * static_cast<size_t>(world_size) : 0));
    for (const auto& [id, flow] : flows) {
        REQUIRE_FALSE(flow.first.is_null());
        REQUIRE_FALSE(flow.second.is_null());
        const int from = flow.first["pid"], to = flow.second["pid"];
        CHECK(to == (from + 1) % world_size);
        CHECK(flow.second["ts"].get<double>() >= flow.first["ts"].get<double>());
    }
}

std::vector<report::Slice> named(const RankTrace& rank, const std::string& prefix) {
    std::vector<report::Slice> found;
    for (const report::Slice& slice : rank.slices)
        if (slice.name.starts_with(prefix)) found.push_back(slice);
    return found;
}

// Returns the part of `all` that is inside of `outer`.
std::vector<report::Slice> within(const std::vector<report::Slice>& all,
                                  const report::Slice& outer) {
    std::vector<report::Slice> found;
    for (const report::Slice& slice : all)
        if (slice.begin >= outer.begin && slice.end <= outer.end) found.push_back(slice);
    return found;
}

// Checks that each forward pass has its layers in their order.
void check_layers(const RankTrace& rank) {
    for (const report::Slice& forward : named(rank, "forward")) {
        std::vector<std::string> layers;
        int64_t end = forward.begin;
        for (const report::Slice& slice : within(rank.slices, forward)) {
            const bool is_whole = slice.name == "forward" || slice.name == "network";
            if (is_whole || slice.lane != Lane::kCompute) continue;
            layers.push_back(slice.name);
            CHECK(slice.begin >= end);
            end = slice.end;
        }
        CHECK(layers == std::vector<std::string>{"conv1", "conv2", "conv2_drop", "fc1",
                                                 "fc1_drop", "fc2"});
    }
}

}  // namespace

TEST_CASE(
    "a trace has nested lanes and flows, and DDP launches buckets before backward ends, "
    "averaging communicates after it") {
    const int world_size = GENERATE(1, 2, 3);
    const bool is_ddp = GENERATE(true, false);
    CAPTURE(world_size, is_ddp);
    const std::string text = trained(world_size, is_ddp ? make_ddp : make_average);
    check_format(json::parse(text), world_size);
    const auto ranks = report::read_trace(text);
    CHECK(report::trace_json(ranks) == text);
    REQUIRE(ranks.size() == static_cast<size_t>(world_size));
    for (const RankTrace& rank : ranks) {
        check_layers(rank);
        const auto steps = named(rank, "step");
        REQUIRE(steps.size() == kSteps);
        for (const report::Slice& step : steps) {
            const auto waiting = within(named(rank, "waiting"), step);
            REQUIRE(waiting.size() == 1);
            const auto all_reduces = within(named(rank, "all_reduce"), step);
            if (!is_ddp) {
                CHECK(all_reduces.size() == 8);  // one per parameter
                for (const report::Slice& each : all_reduces)
                    CHECK(each.begin >= waiting[0].begin);
                continue;
            }
            // Each bucket is launched before its all-reduce begins, the first one before
            // the last gradient is ready.
            CHECK(all_reduces.size() > 1);
            int64_t first_launch = waiting[0].end;
            for (const report::Moment& moment : rank.moments)
                if (moment.name.ends_with("launched") && moment.time >= step.begin)
                    first_launch = std::min(first_launch, moment.time);
            CHECK(first_launch < waiting[0].begin);
            for (size_t i = 0; i < all_reduces.size(); ++i)
                CHECK(all_reduces[i].bucket == static_cast<int64_t>(i));
            const auto backward = within(named(rank, "backward"), step);
            REQUIRE(backward.size() == 1);
            CHECK(within(named(rank, "fc2"), backward[0]).size() == 1);
            CHECK(within(named(rank, "conv1"), backward[0]).size() == 1);
        }
    }
}

TEST_CASE("the forward pass of a layer is recorded while ForwardEvents exists") {
    EventLog log;
    nn::ConvNet model;
    {
        const report::ForwardEvents layers(model, log);
        model(Tensor::zeros({1, 1, 28, 28}));
    }
    const size_t events = log.snapshot().size();
    CHECK(events == 2 * (model.named_modules().size() - 1));
    model(Tensor::zeros({1, 1, 28, 28}));
    CHECK(log.snapshot().size() == events);
}

TEST_CASE("collectives that are in flight together follow one another in the trace") {
    const auto event = [](int64_t time, EventKind kind, int64_t index) {
        return Event{
            .nanoseconds = time, .kind = kind, .index = index, .name = "all_reduce"};
    };
    const auto trace = report::trace_of(
        0,
        {event(10, EventKind::kCollectiveBegin, 4),
         event(20, EventKind::kCollectiveBegin, 5),
         event(50, EventKind::kCollectiveEnd, 4), event(90, EventKind::kCollectiveEnd, 5),
         event(95, EventKind::kCollectiveBegin, 6)},
        {}, 1000);
    REQUIRE(trace.slices.size() == 2);  // the last one has no end
    CHECK(trace.slices[0].begin == 1010);
    CHECK(trace.slices[0].end == 1050);
    CHECK(trace.slices[1].begin == 1050);
    CHECK(trace.slices[1].end == 1090);
}

TEST_CASE("ranks on other hosts get rank 0's time, ranks on its host keep theirs") {
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    std::vector<int64_t> offsets(static_cast<size_t>(world_size));
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        const int rank = group.rank();
        const int64_t left = 5000 + 1000 * rank;  // the barrier, by this rank's clock
        offsets[static_cast<size_t>(rank)] =
            report::clock_offset(group, concat("host ", rank / 2), left);
    });
    for (int rank = 0; rank < world_size; ++rank)
        CHECK(offsets[static_cast<size_t>(rank)] == (rank < 2 ? 0 : -1000 * rank));
}

TEST_CASE("a text that is no trace is rejected") {
    for (const char* text : {"", "[]", "{\"otherData\": {}}"})
        CHECK_THROWS_AS(report::read_trace(text), BadFile);
}
