#include "libmini/extras/backends/mpi.hpp"

#include <mpi.h>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/mpi_library.hpp"
#include "libmini/extras/backends/mpi_side.hpp"
#include "libmini/extras/backends/mpi_types.hpp"
#include "libmini/extras/backends/staging.hpp"
#include "libmini/extras/backends/verify.hpp"

namespace mini::dist {
namespace {

// ---- the backend

// A collective in flight, and the packed buffers that MPI reads and writes.
struct Pending {
    Call call;
    std::vector<std::byte> in = {}, out = {};
    MPI_Request request = MPI_REQUEST_NULL;
};

// The arguments of MPI calls with tensors. `count` is the number of elements of one rank.
struct Arguments {
    explicit Arguments(const Call& call)
        : count(static_cast<int>(call.any_tensor().numel())),
          type(mpi_type_of(call.any_tensor().dtype())),
          input(call.inputs.empty() ? nullptr : call.inputs.front().raw_data()),
          output(call.outputs.empty() ? nullptr : call.outputs.front().raw_data()) {
        MINI_CHECK(call.any_tensor().numel() <= INT_MAX, operation_name(call.operation),
                   ": ", call.any_tensor().numel(), " elements; MPI's maximum is ",
                   INT_MAX);
    }

    int count;
    MPI_Datatype type;
    void* input;
    void* output;
};

struct MpiTransfer {
    PointMessage* message = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
};

class MpiBackend : public VerifyingBackend {
  public:
    MpiBackend(Side side, bool verify)
        : VerifyingBackend(std::move(side.transport), verify),
          cookie_(side.cookie),
          local_host_(std::move(side.local_host)) {}
    ~MpiBackend() override { abandon(); }

    /// Creates the communicators; blocks until all ranks have called connect(). Throws
    /// PeerLost or Timeout naming the rank that has not called it. REQUIRES: `all` has
    /// the same ranks as the side channel.
    void connect(MPI_Comm all, std::chrono::milliseconds timeout);

    std::string name() const override { return "mpi"; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override;

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    std::optional<uint64_t> largest_tag() const override;
    void post_to_library(PointMessage& message) override;
    size_t move_points() override;
    void abandon() noexcept override;

  private:
    void duplicate(MPI_Comm all, MPI_Comm& comm, std::chrono::milliseconds timeout);
    void start(Pending& pending);
    void start_reduction(Pending& pending);
    void start_exchange(Pending& pending);
    MPI_Op op_of(DType dtype, ReduceOp op);
    bool is_done(MpiTransfer& transfer);

    const Cookie cookie_;
    const std::string local_host_;
    MPI_Comm collectives_ = MPI_COMM_NULL, messages_ = MPI_COMM_NULL;
    std::map<std::pair<DType, ReduceOp>, MPI_Op> ops_;
    std::list<MpiTransfer> points_;
};

void MpiBackend::connect(MPI_Comm all, std::chrono::milliseconds timeout) {
    try {
        duplicate(all, collectives_, timeout);
        duplicate(all, messages_, timeout);
    } catch (const std::exception&) {  // notify the ranks that wait for this one
        mpi_library().give_up();
        leave(current_failure());
        throw;
    }
}

void MpiBackend::duplicate(MPI_Comm all, MPI_Comm& comm,
                           std::chrono::milliseconds timeout) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Comm_idup(all, &comm, &request), "MPI_Comm_idup");
    const auto is_done = [&] {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    };
    const Deadline deadline = deadline_after(timeout);
    try {
        wait_until(is_done, deadline);
    } catch (const Timeout&) {
        if (!has_passed(deadline)) throw;  // a Timeout that another rank reported
        throw_silence(timeout, "for MPI's communicators");
    }
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
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

    auto mesh = connect_members(ranks, parent, cookie_, local_host_);
    if (!mesh) return nullptr;
    MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_group(collectives_, &all), "MPI_Comm_group");
    check_mpi(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &members),
              "MPI_Group_incl");
    check_mpi(MPI_Comm_create_group(collectives_, members, 0, &comm),
              "MPI_Comm_create_group");
    Side side{std::make_unique<MeshTransport>(index_among(ranks, parent),
                                              std::move(mesh->streams)),
              cookie_, local_host_};
    auto backend = std::make_unique<MpiBackend>(std::move(side), verifies());
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
        int done = 0;
        for (int tests = 1; true; ++tests) {
            check_mpi(MPI_Test(&pending->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
            if (tests % kTestsPerPoll == 0) poll_once(deadline);
            yield();
        }
    } catch (...) {
        mpi_library().give_up(pending);
        throw;
    }
    if (!pending->out.empty()) unpack(pending->out, call.outputs);
    const bool has_result = call.root == -1 || call.root == rank();
    if (!call.outputs.empty() && has_result && call.operation != Operation::kBroadcast)
        finish_reduce(Elements(call.outputs.front()), world_size(), call.reduce_op);
}

void MpiBackend::start(Pending& pending) {
    switch (pending.call.operation) {
        case Operation::kBarrier:
            return check_mpi(MPI_Ibarrier(collectives_, &pending.request),
                             "MPI_Ibarrier");
        case Operation::kAllReduce:
        case Operation::kReduce:
        case Operation::kReduceScatter: return start_reduction(pending);
        case Operation::kBroadcast:
        case Operation::kAllGather:
        case Operation::kGather:
        case Operation::kScatter:
        case Operation::kAllToAll: return start_exchange(pending);
        case Operation::kSend:
        case Operation::kRecv: break;
    }
    throw Error(concat(operation_name(pending.call.operation), " is not a collective"));
}

void MpiBackend::start_reduction(Pending& pending) {
    const Call& call = pending.call;
    const auto [n, type, input, output] = Arguments(call);
    const DType dtype = call.any_tensor().dtype();
    const MPI_Op op = op_of(dtype, call.reduce_op);
    if (call.operation == Operation::kReduceScatter) {
        pending.in = pack(call.inputs);
        prepare_reduce({pending.in, dtype}, world_size(), call.reduce_op);
        return check_mpi(MPI_Ireduce_scatter_block(pending.in.data(), output, n, type, op,
                                                   collectives_, &pending.request),
                         "MPI_Ireduce_scatter_block");
    }
    prepare_reduce(Elements(call.any_tensor()), world_size(), call.reduce_op);
    if (call.operation == Operation::kAllReduce)
        return check_mpi(MPI_Iallreduce(MPI_IN_PLACE, output, n, type, op, collectives_,
                                        &pending.request),
                         "MPI_Iallreduce");
    const bool is_root = call.root == rank();
    check_mpi(MPI_Ireduce(is_root ? MPI_IN_PLACE : output, is_root ? output : nullptr, n,
                          type, op, call.root, collectives_, &pending.request),
              "MPI_Ireduce");
}

void MpiBackend::start_exchange(Pending& pending) {
    const Call& call = pending.call;
    const auto [n, type, input, output] = Arguments(call);
    const MPI_Comm comm = collectives_;
    MPI_Request* const request = &pending.request;
    auto& in = pending.in;
    auto& out = pending.out;
    const bool is_all_to_all = call.operation == Operation::kAllToAll;
    if (is_all_to_all || call.operation == Operation::kScatter) in = pack(call.inputs);
    if (is_all_to_all || call.operation == Operation::kGather ||
        call.operation == Operation::kAllGather)
        out = room_for(call.outputs);
    switch (call.operation) {
        case Operation::kBroadcast:
            return check_mpi(MPI_Ibcast(output, n, type, call.root, comm, request),
                             "MPI_Ibcast");
        case Operation::kAllGather:
            return check_mpi(
                MPI_Iallgather(input, n, type, out.data(), n, type, comm, request),
                "MPI_Iallgather");
        case Operation::kGather:
            return check_mpi(MPI_Igather(input, n, type, out.data(), n, type, call.root,
                                         comm, request),
                             "MPI_Igather");
        case Operation::kScatter:
            return check_mpi(MPI_Iscatter(in.data(), n, type, output, n, type, call.root,
                                          comm, request),
                             "MPI_Iscatter");
        default:
            return check_mpi(
                MPI_Ialltoall(in.data(), n, type, out.data(), n, type, comm, request),
                "MPI_Ialltoall");
    }
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
    if (collectives_ == MPI_COMM_NULL || mpi_library().has_failed()) return;
    for (auto& [key, op] : ops_) MPI_Op_free(&op);
    MPI_Comm_free(&collectives_);
    MPI_Comm_free(&messages_);
}

// ---- point to point

std::optional<uint64_t> MpiBackend::largest_tag() const {
    constexpr uint64_t kEveryMpiHas = 32767;
    void* largest = nullptr;
    int is_set = 0;
    check_mpi(MPI_Comm_get_attr(messages_, MPI_TAG_UB, &largest, &is_set), "MPI_TAG_UB");
    return is_set ? static_cast<uint64_t>(*static_cast<int*>(largest)) : kEveryMpiHas;
}

void MpiBackend::post_to_library(PointMessage& message) {
    MINI_CHECK(message.data.size() <= INT_MAX, describe(message), ": MPI sends up to ",
               INT_MAX, " bytes in one message");

    MpiTransfer& transfer = points_.emplace_back();
    transfer.message = &message;
    const int bytes = static_cast<int>(message.data.size());
    const int tag = static_cast<int>(message.tag);
    if (message.direction == PointMessage::Direction::kSend)
        check_mpi(MPI_Isend(message.data.data(), bytes, MPI_BYTE, message.peer, tag,
                            messages_, &transfer.request),
                  "MPI_Isend");
    else
        check_mpi(MPI_Irecv(message.data.data(), bytes, MPI_BYTE,
                            message.peer == kAnySource ? MPI_ANY_SOURCE : message.peer,
                            tag, messages_, &transfer.request),
                  "MPI_Irecv");
}

size_t MpiBackend::move_points() {
    return finish_done(points_,
                       [this](MpiTransfer& transfer) { return is_done(transfer); });
}

bool MpiBackend::is_done(MpiTransfer& transfer) {
    PointMessage& message = *transfer.message;
    MPI_Status status;
    int done = 0, error_class = MPI_SUCCESS, bytes = 0;
    const int code = MPI_Test(&transfer.request, &done, &status);
    MPI_Error_class(code, &error_class);
    const bool is_truncated = error_class == MPI_ERR_TRUNCATE;
    if (!is_truncated) check_mpi(code, "MPI_Test");
    if (!done && !is_truncated) return false;
    if (message.direction == PointMessage::Direction::kSend) return true;

    message.source = status.MPI_SOURCE;
    if (!is_truncated)
        check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    if (is_truncated || static_cast<size_t>(bytes) != message.data.size())
        throw MismatchedCollective(
            concat("mismatched messages: rank ", message.source, " sent ",
                   is_truncated ? "more" : concat(bytes), " bytes where rank ", rank(),
                   " expects ", message.data.size(), " in ", describe(message)));
    return true;
}

// ---- rendezvous

void check_expected(const char* property, int expected, int actual) {
    if (expected == -1 || expected == actual) return;
    throw UsageError(concat("init_process_group: the ", property, " is ", expected,
                            ", but MPI reports ", actual,
                            "; start the ranks with mpirun -n WORLD_SIZE"));
}

int number_of_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? -1 : std::atoi(text);
}

std::shared_ptr<QueuedGroup> join_world(const MpiOptions& options, int rank,
                                        int world_size) {
    check_expected("rank", options.rank, rank);
    check_expected("world size", options.world_size, world_size);

    // If MPI has one rank but WORLD_SIZE is larger, mpirun did not start this process.
    if (world_size == 1)
        check_expected("world size", number_of_environment("WORLD_SIZE"), world_size);
    auto backend = std::make_unique<MpiBackend>(
        connect_mpi_side(rank, world_size, options.timeout), options.verify);
    backend->connect(MPI_COMM_WORLD, options.timeout);
    return std::make_shared<QueuedGroup>(std::move(backend), options.timeout);
}

}  // namespace

// Rank and world size come from MPI; the options may only confirm them.
void use_mpi() {
    register_backend("mpi", [](const InitOptions& options) {
        return std::shared_ptr<ProcessGroup>(
            make_mpi_group({.rank = options.rank,
                            .world_size = options.world_size,
                            .verify = options.verify.value_or(true),
                            .timeout = options.timeout}));
    });
}

std::shared_ptr<QueuedGroup> make_mpi_group(const MpiOptions& options) {
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

}  // namespace mini::dist
