#include "libmini/training/run_observer.hpp"

#include "libmini/core/error.hpp"
#include "libmini/training/program.hpp"

namespace mini::training {
namespace {

MakeRunObserver& registered() {
    static MakeRunObserver make = nullptr;
    return make;
}

}  // namespace

void register_run_observer(MakeRunObserver make) { registered() = make; }

std::unique_ptr<RunObserver> observe_run(
    const std::string& folder, RunFacts run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    if (folder.empty()) return nullptr;
    if (registered() == nullptr)
        throw UsageError(concat(
            "--logdir ", folder,
            ": this program has no libmini/extras/report, which records runs; build "
            "it with -DMINI_EXTRA_REPORT=ON, or leave --logdir out"));
    run.world_size = group->world_size();
    run.backend = group->backend();
    std::unique_ptr<RunObserver> observer;
    on_all_ranks(*group, [&] { observer = registered()(folder, run, network, group); });
    return observer;
}

}  // namespace mini::training
