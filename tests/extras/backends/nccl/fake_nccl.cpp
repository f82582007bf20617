// A fake NCCL on the simulator, for ranks that are threads. It returns an error if the
// caller breaks one of NCCL's rules. It is not fast.
//
//     a collective           records the operation, without adding it to the stream
//     ncclCommGetAsyncError  returns "in progress" once, then launches the operation as
//                            a host function; returns an error if the stream has too many
//     host function          waits in the stream until all ranks have reached the
//                            operation of the same number; the last rank moves all data
//     ncclCommAbort          ends all waiting operations, and waits for the device
//     ncclCommFinalize       is in progress until all ranks have called it
//
// All ranks must take part in every operation or group of operations: our backend's ranks
// do.

#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

enum class Kind { kReduce, kBroadcast, kSend, kRecv };
constexpr int kAllRanks = -1;

// A CUDA stream holds about a thousand operations. A thread that adds another operation
// blocks, possibly forever. The fake returns an error instead, at a lower limit.
constexpr int kMaxWaiting = 256;

struct Piece {
    Kind kind;
    const void* from;
    void* to;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int peer;  // the root, the peer of a message, or kAllRanks
};
using Batch = std::vector<Piece>;

size_t bytes_of(const Piece& piece) {
    constexpr size_t kSizes[] = {4, 8, 1, 2, 2};
    return piece.count * kSizes[piece.type];
}

struct Step {
    std::map<int, const Batch*> batches;  // by rank
    bool done = false;
};

// The ranks of a communicator.
struct Clique {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t number = 0;
    int size = 0, joined = 0, finalized = 0;
    bool aborted = false;
    std::map<uint64_t, Step> steps;  // by number
    std::map<int, int> waiting;      // operations in a rank's stream
};
using CliqueHandle = std::shared_ptr<Clique>;

// An operation of one rank, which waits in the rank's stream.
struct Waiting {
    CliqueHandle clique;
    int rank;
    uint64_t number;
    Batch batch;
};

float combine(ncclRedOp_t op, float a, float b) {
    switch (op) {
        case ncclProd: return a * b;
        case ncclMax: return std::max(a, b);
        case ncclMin: return std::min(a, b);
        case ncclSum:
        case ncclAvg: break;
    }
    return a + b;
}

// Runs the reduction of floats at `index` of all ranks' batches.
void reduce(const Step& step, size_t index) {
    const Piece& any = step.batches.begin()->second->at(index);
    std::vector<float> total(any.count);
    for (const auto& [rank, batch] : step.batches) {
        const auto* const from = static_cast<const float*>(batch->at(index).from);
        for (size_t i = 0; i < total.size(); ++i)
            total[i] = rank == 0 ? from[i] : combine(any.op, total[i], from[i]);
    }
    if (any.op == ncclAvg)
        for (float& value : total) value /= static_cast<float>(step.batches.size());
    for (const auto& [rank, batch] : step.batches)
        if (any.peer == kAllRanks || any.peer == rank)
            std::memcpy(batch->at(index).to, total.data(), bytes_of(any));
}

// Runs the receives of all ranks. A receive takes the peer's next send to the receiver.
void exchange(const Step& step) {
    std::map<std::pair<int, int>, std::vector<const Piece*>> sent;  // by from and to
    for (const auto& [rank, batch] : step.batches)
        for (const Piece& piece : *batch)
            if (piece.kind == Kind::kSend) sent[{rank, piece.peer}].push_back(&piece);
    for (const auto& [rank, batch] : step.batches)
        for (const Piece& piece : *batch) {
            if (piece.kind != Kind::kRecv) continue;
            auto& from = sent.at({piece.peer, rank});
            std::memcpy(piece.to, from.front()->from, bytes_of(piece));
            from.erase(from.begin());
        }
}

void move_data(const Step& step) {
    const Batch& any = *step.batches.begin()->second;
    for (size_t i = 0; i < any.size(); ++i) {
        if (any[i].kind == Kind::kReduce) reduce(step, i);
        if (any[i].kind != Kind::kBroadcast) continue;
        const void* const from = step.batches.at(any[i].peer)->at(i).from;
        for (const auto& [rank, batch] : step.batches)
            std::memmove(batch->at(i).to, from, bytes_of(any[i]));
    }
    exchange(step);
}

// The host function: waits in the stream until all ranks have reached the operation.
void meet(void* argument) {
    const std::unique_ptr<Waiting> self(static_cast<Waiting*>(argument));
    Clique& clique = *self->clique;
    std::unique_lock lock(clique.mutex);
    Step& step = clique.steps[self->number];
    step.batches[self->rank] = &self->batch;
    if (static_cast<int>(step.batches.size()) == clique.size && !clique.aborted) {
        move_data(step);
        step.done = true;
        clique.changed.notify_all();
    }
    clique.changed.wait(lock, [&] { return step.done || clique.aborted; });
    step.batches.erase(self->rank);
    --clique.waiting[self->rank];
}

std::mutex all_mutex;
std::map<uint64_t, CliqueHandle> all_cliques;
uint64_t next_id = 1;
std::map<int, std::vector<uint64_t>> launches;  // by device

// The NCCL group of this thread, and its operations.
thread_local int group_depth = 0;
thread_local Batch group;
thread_local ncclComm_t group_comm = nullptr;
thread_local cudaStream_t group_stream = nullptr;

}  // namespace

std::atomic<int> fake_nccl_aborted = 0, fake_nccl_destroyed = 0;

struct ncclComm {
    CliqueHandle clique;
    int rank = 0;
    uint64_t next = 0;
    bool has_called = false;  // an operation that is not in the stream yet
    bool is_finalized = false;
    int polls = 0;
    Batch called;
    cudaStream_t stream = nullptr;
    void* pinned = nullptr;  // as NCCL has for its channels
};

namespace {

ncclResult_t issue(ncclComm_t comm, const Batch& batch, cudaStream_t stream) {
    if (comm->has_called) return ncclInvalidUsage;  // another call is in progress
    comm->has_called = true;
    comm->polls = 0;
    comm->called = batch;
    comm->stream = stream;
    return ncclInProgress;
}

void note_launch(const ncclComm& comm) {
    int device = 0;
    cudaGetDevice(&device);
    const std::lock_guard lock(all_mutex);
    launches[device].push_back(comm.clique->number);
}

ncclResult_t call(const Piece& piece, ncclComm_t comm, cudaStream_t stream) {
    if (group_depth == 0) return issue(comm, {piece}, stream);
    group.push_back(piece);
    group_comm = comm;
    group_stream = stream;
    return ncclSuccess;
}

}  // namespace

std::vector<uint64_t> fake_nccl_launches(int device) {
    const std::lock_guard lock(all_mutex);
    return launches[device];
}

ncclResult_t ncclGetVersion(int* version) {
    *version = 22809;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    const std::lock_guard lock(all_mutex);
    std::memcpy(id->internal, &next_id, sizeof next_id);
    ++next_id;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
    return result == ncclRemoteError ? "remote error" : "invalid usage";
}

const char* ncclGetLastError(ncclComm_t /*comm*/) { return "not NCCL"; }

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int world_size, ncclUniqueId id,
                                    int rank, ncclConfig_t* config) {
    if (config->blocking != 0) return ncclInvalidUsage;
    uint64_t number = 0;
    std::memcpy(&number, id.internal, sizeof number);
    const std::lock_guard lock(all_mutex);
    CliqueHandle& clique = all_cliques[number];
    if (!clique) clique = std::make_shared<Clique>();
    clique->number = number;
    clique->size = world_size;
    ++clique->joined;
    *comm = new ncclComm{.clique = clique, .rank = rank, .called = {}};
    cudaMallocHost(&(*comm)->pinned, 1);
    return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
    *state = ncclInProgress;
    {
        const std::lock_guard lock(all_mutex);
        if (comm->clique->joined < comm->clique->size) return ncclSuccess;
        if (comm->is_finalized && comm->clique->finalized < comm->clique->size)
            return ncclSuccess;
    }
    if (comm->has_called && comm->polls++ == 0) return ncclSuccess;
    if (comm->has_called) {
        {
            const std::lock_guard lock(comm->clique->mutex);
            if (++comm->clique->waiting[comm->rank] > kMaxWaiting)
                return ncclInvalidUsage;
        }
        note_launch(*comm);
        cudaLaunchHostFunc(
            comm->stream, meet,
            new Waiting{comm->clique, comm->rank, comm->next++, std::move(comm->called)});
    }
    comm->has_called = false;
    *state = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    {
        const std::lock_guard lock(comm->clique->mutex);
        comm->clique->aborted = true;
        comm->clique->changed.notify_all();
    }
    cudaFreeHost(comm->pinned);  // waits for the device, as in NCCL
    delete comm;
    ++fake_nccl_aborted;
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    const std::lock_guard lock(all_mutex);
    comm->is_finalized = true;
    ++comm->clique->finalized;
    return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    cudaFreeHost(comm->pinned);
    delete comm;
    ++fake_nccl_destroyed;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    ++group_depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (group_depth == 0) return ncclInvalidUsage;
    if (--group_depth > 0 || group_comm == nullptr) return ncclSuccess;
    const Batch batch = std::exchange(group, {});
    return issue(std::exchange(group_comm, nullptr), batch, group_stream);
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    return call({Kind::kReduce, from, to, count, type, op, kAllRanks}, comm, stream);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
    return call({Kind::kBroadcast, from, to, count, type, ncclSum, root}, comm, stream);
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
    return call({Kind::kReduce, from, to, count, type, op, root}, comm, stream);
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    return call({Kind::kSend, from, nullptr, count, type, ncclSum, peer}, comm, stream);
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    return call({Kind::kRecv, nullptr, to, count, type, ncclSum, peer}, comm, stream);
}
