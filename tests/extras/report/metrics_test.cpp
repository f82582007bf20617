#include "libmini/extras/report/metrics.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/events.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/extras/report/report.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/training/run_observer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains, test::message_of;

namespace {

Event at(int64_t nanoseconds, EventKind kind, const char* name = "") {
    return {.nanoseconds = nanoseconds, .kind = kind, .name = name};
}

constexpr auto kBegin = EventKind::kSpanBegin, kEnd = EventKind::kSpanEnd;

void write_lines(const std::string& folder, const std::vector<std::string>& lines) {
    std::ofstream file(folder + "/metrics.jsonl");
    for (const std::string& line : lines) file << line << '\n';
}

std::string run_line(std::optional<int64_t> resumed_at_step) {
    return report::json_of(
               training::RunFacts{.program = "p",
                                  .options = {{"lr", "0.5"}, {"data", "digits"}},
                                  .resumed_at_step = resumed_at_step})
        .dump();
}

std::string step_line(int64_t step, double loss) {
    return json_of(report::StepRow{.step = step, .loss = loss}).dump();
}

// Records one step with every span.
void record_step(EventLog& log, int64_t step) {
    const EventSpan whole(&log, "step", step);
    const EventSpan data(&log, "data");
}

}  // namespace

TEST_CASE("the parts of a step are its spans, and waiting begins when backward ends") {
    const auto times = report::step_times(
        {at(100, kBegin, "step"), at(110, kBegin, "data"), at(130, kEnd, "data"),
         at(140, kBegin, "forward"), at(200, kEnd, "forward"),
         at(210, kBegin, "backward"), at(220, EventKind::kGradReady),
         at(250, EventKind::kBackwardEnd), at(300, kEnd, "backward"),
         at(310, kBegin, "optimizer"), at(320, kEnd, "optimizer"),
         at(1100, kEnd, "step")});
    CHECK(times.data == Approx(20e-9));
    CHECK(times.forward == Approx(60e-9));
    CHECK(times.backward == Approx(40e-9));
    CHECK(times.waiting == Approx(50e-9));
    CHECK(times.optimizer == Approx(10e-9));
    CHECK(times.step == Approx(1000e-9));
}

TEST_CASE("without data-parallel training, a step does not wait") {
    const auto times =
        report::step_times({at(5, EventKind::kBackwardEnd),  // older
                            at(10, kBegin, "backward"), at(40, kEnd, "backward")});
    CHECK(times.backward == Approx(30e-9));
    CHECK(times.waiting == 0.0);
}

TEST_CASE("what is written to metrics.jsonl is read back") {
    const test::Folder folder;
    write_lines(folder.path(), {run_line({}), step_line(0, 2.5),
                                step_line(1, std::numeric_limits<double>::quiet_NaN())});
    const report::Metrics metrics = report::read_metrics(folder.path());
    CHECK(metrics.run.program == "p");
    CHECK(metrics.run.options == std::vector<std::pair<std::string, std::string>>{
                                     {"lr", "0.5"}, {"data", "digits"}});
    REQUIRE(metrics.steps.size() == 2);
    CHECK(metrics.steps[0].loss == 2.5);
    CHECK(std::isnan(metrics.steps[1].loss));
}

TEST_CASE("a resumed run replaces the steps after its checkpoint, a new run all steps") {
    const test::Folder folder;
    std::vector<std::string> lines{run_line({}),    step_line(0, 1),   step_line(1, 2),
                                   step_line(2, 3), R"({"kind": "st)",  // killed
                                   run_line(1),     step_line(1, 20)};
    write_lines(folder.path(), lines);
    auto steps = report::read_metrics(folder.path()).steps;
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].loss == 1);
    CHECK(steps[1].loss == 20);

    lines.push_back(run_line({}));
    lines.push_back(step_line(0, 7));
    write_lines(folder.path(), lines);
    steps = report::read_metrics(folder.path()).steps;
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].loss == 7);
}

TEST_CASE("a file of metrics that cannot be read is named, with the line") {
    const test::Folder folder;
    const auto message = [&] {
        return message_of<BadFile>([&] { report::read_metrics(folder.path()); });
    };
    CHECK(contains(message(), folder / "metrics.jsonl: cannot open"));
    write_lines(folder.path(), {});
    CHECK(contains(message(), "no line of kind \"run\""));
    write_lines(folder.path(), {run_line({}), R"({"kind": "step"})"});
    CHECK(contains(message(), "metrics.jsonl, line 2: "));
}

TEST_CASE("a run's log has the steps of all ranks, and rank 0's at once") {
    const int world_size = GENERATE(1, 2, 3);
    const test::Folder folder;
    report::use();
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        const std::string path = folder / "new/folder";
        nn::Linear model(1, 1);
        const auto log = training::observe_run(path, {.program = "p", .options = {}},
                                               model, dist::default_group());
        for (int64_t step = 0; step < 3; ++step) {
            record_step(group.events(), step);
            log->add_step({.step = step, .loss = group.rank() + 0.5});
        }
        if (group.rank() == 0)
            MINI_CHECK(report::read_metrics(path).steps.size() == 3, "steps of rank 0");
        log->add_epoch({.steps = 3, .train_loss = 4.0});
        if (group.rank() != 0) return;
        const report::Metrics metrics = report::read_metrics(path);
        MINI_CHECK(metrics.run.world_size == world_size, "");
        MINI_CHECK(metrics.run.backend == "threads", metrics.run.backend);
        MINI_CHECK(metrics.epochs.size() == 1 && metrics.epochs[0].train_loss == 4.0, "");
        MINI_CHECK(metrics.steps.size() == static_cast<size_t>(3 * world_size), "");
        for (size_t i = 0; i < metrics.steps.size(); ++i) {
            const report::StepRow& row = metrics.steps[i];
            const auto rank = static_cast<int>(i) % world_size;
            MINI_CHECK(row.rank == rank && row.loss == rank + 0.5, "row ", i);
            MINI_CHECK(row.times.step >= row.times.data && row.times.data > 0, "");
        }
    });
}
