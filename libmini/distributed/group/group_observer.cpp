#include "libmini/distributed/group/group_observer.hpp"

#include <atomic>

namespace mini::dist {
namespace {

std::atomic<MakeObserver> registered = nullptr;

}  // namespace

void observe_groups(MakeObserver make) { registered = make; }

std::unique_ptr<GroupObserver> make_group_observer(const GroupOfRank& group) {
    const MakeObserver make = registered;
    return make != nullptr ? make(group) : std::make_unique<GroupObserver>();
}

}  // namespace mini::dist
