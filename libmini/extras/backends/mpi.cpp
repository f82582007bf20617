#include "libmini/extras/backends/mpi.hpp"

#include <mpi.h>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/extras/backends/mpi_calls.hpp"
#include "libmini/extras/backends/mpi_rendezvous.hpp"
#include "libmini/extras/backends/staging.hpp"
#include "libmini/extras/backends/start_group.hpp"
#include "libmini/extras/backends/verify.hpp"

namespace mini::dist {
namespace {

// The number of elements of each tensor in a packed buffer, and where each begins.
struct Blocks {
    std::vector<int> counts, begins;
};

Blocks blocks_of(const std::vector<Tensor>& tensors) {
    Blocks blocks;
    int64_t total = 0;
    for (const Tensor& tensor : tensors) {
        blocks.begins.push_back(static_cast<int>(total));
        blocks.counts.push_back(static_cast<int>(tensor.numel()));
        total += tensor.numel();
        MINI_CHECK(total <= INT_MAX, "all_to_all: ", total,
                   " elements; MPI's maximum is ", INT_MAX);
    }
    return blocks;
}

// A collective in flight, and the packed buffers that MPI reads and writes.
struct Pending {
    Call call;
    std::vector<std::byte> in = {}, out = {};
    Blocks in_blocks = {}, out_blocks = {};  // of an all_to_all
    MPI_Request request = MPI_REQUEST_NULL;
};

class MpiBackend : public VerifyingBackend {
  public:
    using VerifyingBackend::VerifyingBackend;
    ~MpiBackend() override { abandon(); }

    /// Creates the communicator; blocks until all ranks have called connect(). Throws
    /// PeerLost or Timeout naming the rank that has not called it. REQUIRES: `all` has
    /// the same ranks as the side channel.
    void connect(MPI_Comm all, std::chrono::milliseconds timeout);

    std::string name() const override { return "mpi"; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override;

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    void abandon() noexcept override;

  private:
    void start(Pending& pending);
    void start_reduction(Pending& pending, int n, MPI_Datatype type, void* output);
    MPI_Op op_of(DType dtype, ReduceOp op);

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::map<std::pair<DType, ReduceOp>, MPI_Op> ops_;
};

void MpiBackend::connect(MPI_Comm all, std::chrono::milliseconds timeout) {
    connect_or_leave([&] {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Comm_idup(all, &comm_, &request), "MPI_Comm_idup");
        wait_for_ranks([&] { return is_done(request); }, timeout,
                       "for MPI's communicator");
        check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN),
                  "MPI_Comm_set_errhandler");
    });
}

std::unique_ptr<Backend> MpiBackend::split(const std::vector<int>& ranks,
                                           ProcessGroup& parent) {
    // Every group has its own thread, and all of these threads call MPI.
    int threads = MPI_THREAD_SINGLE;
    check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
    if (threads < MPI_THREAD_MULTIPLE)
        throw NotImplemented(
            "new_group: this MPI allows calls from one thread at a time only; subgroups "
            "need MPI_THREAD_MULTIPLE");

    auto side = side_of(ranks, parent);
    if (!side) return nullptr;
    MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
    check_mpi(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &members),
              "MPI_Group_incl");
    check_mpi(MPI_Comm_create_group(comm_, members, 0, &comm), "MPI_Comm_create_group");
    auto backend = std::make_unique<MpiBackend>(std::move(*side));
    backend->connect(comm, parent.timeout());
    MPI_Comm_free(&comm);
    MPI_Group_free(&members);
    MPI_Group_free(&all);
    return backend;
}

void MpiBackend::transfer(const Call& call, Deadline deadline) {
    MINI_CHECK(call.algorithm == Algorithm::kAuto,
               "all_reduce: backend mpi chooses its algorithm itself");
    const auto pending = std::make_shared<Pending>(Pending{.call = call});
    try {
        start(*pending);
        constexpr int kTestsPerPoll = 16;
        for (int tests = 1; !is_done(pending->request); ++tests) {
            if (tests % kTestsPerPoll == 0) poll_once(deadline);
            yield();
        }
    } catch (...) {
        mpi_library().give_up();
        mpi_library().keep(pending);
        throw;
    }
    if (!pending->out.empty()) unpack(pending->out, call.outputs);
    const bool has_result = call.root == -1 || call.root == rank();
    if (!call.outputs.empty() && has_result && call.operation != Operation::kBroadcast)
        finish_reduce(Elements(call.outputs.front()), world_size(), call.reduce_op);
}

// Starts the collective. The tensors have `n` elements of one rank; MPI needs those of all
// ranks in one buffer: `in` and `out`.
void MpiBackend::start(Pending& pending) {
    const Call& call = pending.call;
    MPI_Request* const request = &pending.request;
    if (call.operation == Operation::kBarrier)
        return check_mpi(MPI_Ibarrier(comm_, request), "MPI_Ibarrier");
    const Tensor& any = call.any_tensor();
    MINI_CHECK(any.numel() <= INT_MAX, operation_name(call.operation), ": ", any.numel(),
               " elements; MPI's maximum is ", INT_MAX);
    const int n = static_cast<int>(any.numel());
    const MPI_Datatype type = mpi_type_of(any.dtype());
    void* const input = call.inputs.empty() ? nullptr : call.inputs.front().raw_data();
    void* const output = call.outputs.empty() ? nullptr : call.outputs.front().raw_data();
    const auto pack_in = [&] { return (pending.in = pack(call.inputs)).data(); };
    const auto make_out = [&] { return (pending.out = room_for(call.outputs)).data(); };
    switch (call.operation) {
        case Operation::kBroadcast:
            return check_mpi(MPI_Ibcast(output, n, type, call.root, comm_, request),
                             "MPI_Ibcast");
        case Operation::kAllGather:
            return check_mpi(
                MPI_Iallgather(input, n, type, make_out(), n, type, comm_, request),
                "MPI_Iallgather");
        case Operation::kGather:
            return check_mpi(MPI_Igather(input, n, type, make_out(), n, type, call.root,
                                         comm_, request),
                             "MPI_Igather");
        case Operation::kScatter:
            return check_mpi(MPI_Iscatter(pack_in(), n, type, output, n, type, call.root,
                                          comm_, request),
                             "MPI_Iscatter");
        case Operation::kAllToAll:
            pending.in_blocks = blocks_of(call.inputs);
            pending.out_blocks = blocks_of(call.outputs);
            return check_mpi(
                MPI_Ialltoallv(pack_in(), pending.in_blocks.counts.data(),
                               pending.in_blocks.begins.data(), type, make_out(),
                               pending.out_blocks.counts.data(),
                               pending.out_blocks.begins.data(), type, comm_, request),
                "MPI_Ialltoallv");
        default: return start_reduction(pending, n, type, output);
    }
}

void MpiBackend::start_reduction(Pending& pending, int n, MPI_Datatype type,
                                 void* output) {
    const Call& call = pending.call;
    MPI_Request* const request = &pending.request;
    const DType dtype = call.any_tensor().dtype();
    const MPI_Op op = op_of(dtype, call.reduce_op);
    if (call.operation == Operation::kReduceScatter) {
        pending.in = pack(call.inputs);
        prepare_reduce({pending.in, dtype}, world_size(), call.reduce_op);
        return check_mpi(MPI_Ireduce_scatter_block(pending.in.data(), output, n, type, op,
                                                   comm_, request),
                         "MPI_Ireduce_scatter_block");
    }
    prepare_reduce(Elements(call.any_tensor()), world_size(), call.reduce_op);
    if (call.operation == Operation::kAllReduce)
        return check_mpi(
            MPI_Iallreduce(MPI_IN_PLACE, output, n, type, op, comm_, request),
            "MPI_Iallreduce");
    const bool is_root = call.root == rank();
    check_mpi(MPI_Ireduce(is_root ? MPI_IN_PLACE : output, is_root ? output : nullptr, n,
                          type, op, call.root, comm_, request),
              "MPI_Ireduce");
}

MPI_Op MpiBackend::op_of(DType dtype, ReduceOp op) {
    const auto [entry, is_new] = ops_.try_emplace({dtype, op}, MPI_OP_NULL);
    constexpr int kCommutes = 1;
    if (is_new)
        check_mpi(MPI_Op_create(mpi_function_of(dtype, op), kCommutes, &entry->second),
                  "MPI_Op_create");
    return entry->second;
}

void MpiBackend::abandon() noexcept {
    if (has_failed()) mpi_library().give_up();
    if (comm_ == MPI_COMM_NULL || mpi_library().has_failed()) return;
    for (auto& [key, op] : ops_) MPI_Op_free(&op);
    MPI_Comm_free(&comm_);
}

void check_expected(const char* property, int expected, int actual) {
    if (expected == -1 || expected == actual) return;
    throw UsageError("init_process_group: the ", property, " is ", expected,
                     ", but MPI reports ", actual,
                     "; start the ranks with mpirun -n WORLD_SIZE");
}

int number_of_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? -1 : std::atoi(text);
}

std::shared_ptr<ProcessGroup> join_world(const InitOptions& options, int rank,
                                         int world_size) {
    check_expected("rank", options.rank, rank);
    check_expected("world size", options.world_size, world_size);

    // If MPI has one rank but WORLD_SIZE is larger, mpirun did not start this process.
    if (world_size == 1)
        check_expected("world size", number_of_environment("WORLD_SIZE"), world_size);
    const Deadline deadline = deadline_after(options.timeout);
    auto [rendezvous, config] = join_over_mpi(rank, world_size, options.timeout);
    const auto make = [&](SideChannel side, Store&) {
        auto backend = std::make_unique<MpiBackend>(std::move(side));
        backend->connect(MPI_COMM_WORLD, options.timeout);
        return backend;
    };
    return start_group(std::move(rendezvous), config, options.verify.value_or(true),
                       options.timeout, deadline, make);
}

// Rank and world size come from MPI; the options may only confirm them.
std::shared_ptr<ProcessGroup> make_mpi_group(const InitOptions& options) {
    MINI_CHECK(!mpi_library().has_failed(),
               "a group of backend mpi has failed in this process; restart the process");
    int rank = 0, world_size = 1;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &world_size), "MPI_Comm_size");
    try {
        return join_world(options, rank, world_size);
    } catch (...) {
        // Do not finalize MPI: MPI_Finalize would wait for the other ranks, which wait
        // for this rank.
        if (world_size > 1) mpi_library().give_up();
        throw;
    }
}

}  // namespace

void use_mpi() { register_backend("mpi", &make_mpi_group); }

}  // namespace mini::dist
