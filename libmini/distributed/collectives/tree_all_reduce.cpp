#include "libmini/distributed/collectives/tree_all_reduce.hpp"

#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/tree_broadcast.hpp"
#include "libmini/distributed/collectives/tree_reduce.hpp"

namespace mini::dist {

void tree_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    prepare_reduce(data, transport.world_size(), op);
    tree_reduce(transport, data, op, 0);
    if (transport.rank() == 0) finish_reduce(data, transport.world_size(), op);
    tree_broadcast(transport, data.bytes, 0);
}

}  // namespace mini::dist
