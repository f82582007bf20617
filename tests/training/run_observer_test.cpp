#include "libmini/training/run_observer.hpp"

#include <memory>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/training/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains, test::message_of;

namespace {

// Accepts everything, and checks the facts with which the run began.
class Accepting : public training::RunObserver {
  public:
    explicit Accepting(const training::RunFacts& run) {
        MINI_CHECK(run.world_size == 3 && run.backend == "threads", run.backend);
    }
    void add_step(const training::StepFacts&) override {}
    void add_epoch(const training::EpochFacts&) override {}
};

std::unique_ptr<training::RunObserver> make(
    const std::string& folder, const training::RunFacts& run, nn::Module&,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    if (folder == "full" && group->rank() == 0) throw BadFile("the disk is full");
    return std::make_unique<Accepting>(run);
}

// The observer is registered for the lifetime of this object.
struct Registered {
    Registered() { training::make_run_observer = make; }
    ~Registered() { training::make_run_observer = nullptr; }
};

}  // namespace

TEST_CASE("without an observer, --logdir is an error that names the extra") {
    dist::run_threads(2, [](dist::ProcessGroup&) {
        nn::Linear model(1, 1);
        const auto group = dist::default_group();
        MINI_CHECK(training::observe_run("", {}, model, group) == nullptr, "no folder");
        const auto message = message_of<UsageError>(
            [&] { training::observe_run("runs/a", {}, model, group); });
        MINI_CHECK(contains(message, "--logdir runs/a"), message);
        MINI_CHECK(contains(message, "libmini/extras/report"), message);
    });
}

TEST_CASE(
    "an observer is told the ranks of the run, and its error is thrown on all ranks") {
    const Registered registered;
    dist::run_threads(3, [](dist::ProcessGroup&) {
        nn::Linear model(1, 1);
        const auto group = dist::default_group();
        MINI_CHECK(training::observe_run("runs/a", {}, model, group) != nullptr, "");
        const auto message = message_of<training::SharedError>(
            [&] { training::observe_run("full", {}, model, group); });
        MINI_CHECK(message == "the disk is full", message);
    });
}
