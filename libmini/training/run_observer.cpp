#include "libmini/training/run_observer.hpp"

#include "libmini/core/error.hpp"
#include "libmini/training/program.hpp"

namespace mini::training {

std::unique_ptr<RunObserver> observe_run(
    const std::string& folder, RunFacts run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    if (folder.empty()) return nullptr;
    if (make_run_observer == nullptr)
        throw UsageError(
            "--logdir ", folder,
            ": this program has no libmini/extras/report, which records runs; build "
            "it with -DMINI_EXTRA_REPORT=ON, or leave --logdir out");
    run.world_size = group->world_size();
    run.backend = group->backend();
    std::unique_ptr<RunObserver> observer;
    on_all_ranks(*group,
                 [&] { observer = make_run_observer(folder, run, network, group); });
    return observer;
}

}  // namespace mini::training
