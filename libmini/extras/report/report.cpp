#include "libmini/extras/report/report.hpp"

#include <memory>
#include <string>

#include "libmini/extras/report/run_log.hpp"
#include "libmini/training/run_observer.hpp"

namespace mini::report {
namespace {

std::unique_ptr<training::RunObserver> make_run_log(
    const std::string& folder, const training::RunFacts& run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    return std::make_unique<RunLog>(folder, run, network, group);
}

}  // namespace

void use() { training::register_run_observer(make_run_log); }

}  // namespace mini::report
