#include "libmini/distributed/backends/transport_backend.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/collectives/gather_scatter.hpp"
#include "libmini/distributed/collectives/hierarchical_all_reduce.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/ring_all_gather.hpp"
#include "libmini/distributed/collectives/ring_reduce_scatter.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"

namespace mini::dist {
namespace {

std::vector<Elements> elements_of(const std::vector<Tensor>& tensors) {
    std::vector<Elements> all;
    for (const Tensor& tensor : tensors) all.emplace_back(tensor);
    return all;
}

void gather_all(Transport& transport, const Call& call) {
    std::vector<std::span<std::byte>> blocks;
    for (const Elements& output : elements_of(call.outputs))
        blocks.push_back(output.bytes);
    copy(Elements(call.outputs[static_cast<size_t>(transport.rank())]),
         Elements(call.inputs.front()));
    ring_all_gather(transport, blocks);
}

void reduce_to_root(Transport& transport, const Call& call) {
    const Elements data(call.outputs.front());
    prepare_reduce(data, transport.world_size(), call.reduce_op);
    tree_reduce(transport, data, call.reduce_op, call.root);
    if (transport.rank() == call.root)
        finish_reduce(data, transport.world_size(), call.reduce_op);
}

bool is_on_several_hosts(const std::vector<int>& hosts) {
    return std::ranges::adjacent_find(hosts, std::ranges::not_equal_to()) != hosts.end();
}

// Returns whether the registered all-reduce is for these ranks; the same on all ranks, and
// false if none is registered.
bool can_share_memory(const GroupTransport& transport) {
    bool all = transport.world_size() <= shared_all_reduce().max_ranks;
    for (int other = 0; other < transport.world_size(); ++other)
        all = all && (other == transport.rank() || transport.shares_memory_with(other));
    return all;
}

}  // namespace

// With more than kManyRanks ranks and up to kMediumBytes, the 2(P-1) messages of the ring
// cost too much latency: halving-doubling is faster. kSmallBytes: shared_all_reduce.hpp.
constexpr int kManyRanks = 8;
constexpr size_t kMediumBytes = 1 << 20;

Algorithm choose_algorithm(size_t bytes, int world_size, const std::vector<int>& hosts,
                           bool shares_memory) {
    if (bytes <= kSmallBytes) return Algorithm::kRecursiveDoubling;
    if (shares_memory && world_size > 1) return Algorithm::kSharedMemory;
    const bool has_neighbours =
        hosts.size() > std::set<int>(hosts.begin(), hosts.end()).size();
    if (is_on_several_hosts(hosts) && has_neighbours) return Algorithm::kHierarchical;
    return world_size > kManyRanks && bytes <= kMediumBytes ? Algorithm::kHalvingDoubling
                                                            : Algorithm::kRing;
}

namespace {

const char* all_reduce(Transport& transport, const Call& call,
                       const std::vector<int>& hosts, GroupTransport* sharing) {
    const Elements data(call.outputs.front());
    const ReduceOp op = call.reduce_op;
    Algorithm algorithm =
        call.algorithm != Algorithm::kAuto
            ? call.algorithm
            : choose_algorithm(data.bytes.size(), transport.world_size(), hosts,
                               sharing != nullptr);
    switch (algorithm) {
        case Algorithm::kNaive: naive_all_reduce(transport, data, op); break;
        case Algorithm::kTree: tree_all_reduce(transport, data, op); break;
        case Algorithm::kRecursiveDoubling:
            recursive_doubling_all_reduce(transport, data, op);
            break;
        case Algorithm::kHalvingDoubling:
            halving_doubling_all_reduce(transport, data, op);
            break;
        case Algorithm::kHierarchical:
            hierarchical_all_reduce(transport, data, op, hosts);
            break;
        case Algorithm::kSharedMemory:
            MINI_CHECK(shared_all_reduce().run != nullptr,
                       "all_reduce: algorithm shared-memory is the extra fast's; call "
                       "extras::use_all() in main");
            MINI_CHECK(sharing != nullptr,
                       "all_reduce: algorithm shared-memory needs ranks that share "
                       "memory: at most ",
                       shared_all_reduce().max_ranks,
                       ", on one host, and not with --medium tcp or a link");
            if (shared_all_reduce().run(*sharing, data, op)) break;
            algorithm = Algorithm::kRing;
            [[fallthrough]];
        case Algorithm::kAuto:  // replaced above
        case Algorithm::kRing: ring_all_reduce(transport, data, op);
    }
    return algorithm_name(algorithm);
}

void run_other(Transport& transport, const Call& call) {
    const auto outputs = elements_of(call.outputs), inputs = elements_of(call.inputs);
    switch (call.operation) {
        case Operation::kBroadcast:
            return tree_broadcast(transport, outputs.front().bytes, call.root);
        case Operation::kReduce: return reduce_to_root(transport, call);
        case Operation::kAllGather: return gather_all(transport, call);
        case Operation::kGather:
            return gather_blocks(transport, outputs, inputs.front(), call.root);
        case Operation::kScatter:
            return scatter_blocks(transport, outputs.front(), inputs, call.root);
        case Operation::kReduceScatter:
            return ring_reduce_scatter(transport, outputs.front(), inputs,
                                       call.reduce_op);
        case Operation::kAllToAll: return exchange_blocks(transport, outputs, inputs);
        case Operation::kBarrier: return dissemination_barrier(transport);
        case Operation::kAllReduce:
        case Operation::kSend:
        case Operation::kRecv: break;
    }
    throw Error(operation_name(call.operation), " is not a collective");
}

}  // namespace

const char* run_over(Transport& transport, const Call& call,
                     const std::vector<int>& hosts, GroupTransport* sharing) {
    if (call.operation == Operation::kAllReduce)
        return all_reduce(transport, call, hosts, sharing);
    run_other(transport, call);
    return "";
}

TransportBackend::TransportBackend(std::string name,
                                   std::unique_ptr<GroupTransport> transport,
                                   std::vector<int> hosts, Splitter splitter)
    : name_(std::move(name)),
      transport_(std::move(transport)),
      shares_memory_(can_share_memory(*transport_)),
      hosts_(std::move(hosts)),
      splitter_(std::move(splitter)) {
    if (hosts_.empty()) hosts_.assign(static_cast<size_t>(world_size()), 0);
}

void TransportBackend::run(const Call& call, const Collective& collective,
                           std::chrono::milliseconds timeout) {
    transport_->begin(collective, timeout);
    last_algorithm_ =
        run_over(*transport_, call, hosts_, shares_memory_ ? transport_.get() : nullptr);
}

}  // namespace mini::dist
