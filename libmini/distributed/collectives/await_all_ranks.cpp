#include "libmini/distributed/collectives/await_all_ranks.hpp"

#include <algorithm>
#include <chrono>

#include "libmini/distributed/collectives/collectives.hpp"

namespace mini::dist {

void await_all_ranks(GroupTransport& transport, Deadline deadline) {
    constexpr Collective kConnected{.operation = Operation::kBarrier,
                                    .sequence = kFirstJoiningSequence};
    try {
        transport.begin(kConnected, std::chrono::milliseconds(
                                        std::max(1, milliseconds_left(deadline))));
        dissemination_barrier(transport);
    } catch (const Error&) {
        transport.leave(current_failure());
        throw;
    }
}

}  // namespace mini::dist
