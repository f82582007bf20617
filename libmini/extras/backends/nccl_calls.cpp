#include "libmini/extras/backends/nccl_calls.hpp"

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/extras/backends/blocking_call.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist::nccl {
namespace {

ncclDataType_t type_of(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return ncclFloat32;
        case DType::kInt64: return ncclInt64;
        case DType::kUInt8: return ncclUint8;
        case DType::kFloat16: return ncclFloat16;
        case DType::kBFloat16: break;
    }
    return ncclBfloat16;
}

ncclRedOp_t op_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::kSum: break;
        case ReduceOp::kAvg: return ncclAvg;
        case ReduceOp::kProduct: return ncclProd;
        case ReduceOp::kMin: return ncclMin;
        case ReduceOp::kMax: return ncclMax;
    }
    return ncclSum;
}

// How long to wait for ncclCommAbort, which ends NCCL's kernels immediately but may wait
// for other kernels on the device.
constexpr std::chrono::milliseconds kAbortTime(2000);

// Runs several calls as one NCCL group. Ends the group also after an exception: an open
// group would include the thread's next calls.
template <typename Calls>
void as_one_group(const Calls& calls) {
    check(ncclGroupStart(), "ncclGroupStart");
    try {
        calls();
    } catch (...) {
        ncclGroupEnd();
        throw;
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace

void check(ncclResult_t code, const char* call) {
    if (code != ncclSuccess && code != ncclInProgress)
        throw Failure(concat(call, ": ", ncclGetErrorString(code), " (",
                             ncclGetLastError(nullptr), ")"));
}

std::string version() {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return concat(version / 10000, ".", version / 100 % 100);
}

void Communicator::start(int rank, int world_size, const ncclUniqueId& id) {
    rank_ = rank;
    device_ = cuda::current_device();
    world_size_ = world_size;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&comm_, world_size, id, rank, &config),
          "ncclCommInitRankConfig");
}

bool Communicator::is_ready() const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, "the communicator");
    return state == ncclSuccess;
}

void Communicator::start(const Call& call, cudaStream_t stream) const {
    const Tensor& any = call.any_tensor();
    const auto count = static_cast<size_t>(any.numel());
    const ncclDataType_t type = type_of(any.dtype());
    const ncclRedOp_t op = op_of(call.reduce_op);
    void* const data = any.raw_data();
    switch (call.operation) {
        case Operation::kAllReduce:
            return check(ncclAllReduce(data, data, count, type, op, comm_, stream),
                         "ncclAllReduce");
        case Operation::kBroadcast:
            return check(ncclBroadcast(data, data, count, type, call.root, comm_, stream),
                         "ncclBroadcast");
        case Operation::kReduce:
            return check(
                ncclReduce(data, data, count, type, op, call.root, comm_, stream),
                "ncclReduce");
        case Operation::kReduceScatter:
            return as_one_group([&] {
                for (int root = 0; root < world_size_; ++root)
                    check(ncclReduce(call.inputs[static_cast<size_t>(root)].raw_data(),
                                     data, count, type, op, root, comm_, stream),
                          "ncclReduce");
            });
        case Operation::kAllGather:
        case Operation::kGather:
        case Operation::kScatter:
        case Operation::kAllToAll: return as_one_group([&] { exchange(call, stream); });
        case Operation::kBarrier:
        case Operation::kSend:
        case Operation::kRecv: break;
    }
    throw Error(operation_name(call.operation), " is not a collective on tensors");
}

// Sends a block to each peer and receives a block from each peer, as the operation needs.
// The input is one tensor for all peers, or one tensor per peer; the same holds for the
// output.
void Communicator::exchange(const Call& call, cudaStream_t stream) const {
    const bool to_root = call.operation == Operation::kGather;
    const bool from_root = call.operation == Operation::kScatter;
    for (int peer = 0; peer < world_size_; ++peer) {
        const bool sends = from_root ? rank_ == call.root : !to_root || peer == call.root;
        const bool receives =
            to_root ? rank_ == call.root : !from_root || peer == call.root;
        const auto block = [&](const std::vector<Tensor>& tensors) -> const Tensor& {
            return tensors[tensors.size() > 1 ? static_cast<size_t>(peer) : 0];
        };
        const auto send = [&](const Tensor& from) {
            check(ncclSend(from.raw_data(), static_cast<size_t>(from.numel()),
                           type_of(from.dtype()), peer, comm_, stream),
                  "ncclSend");
        };
        const auto receive = [&](const Tensor& into) {
            check(ncclRecv(into.raw_data(), static_cast<size_t>(into.numel()),
                           type_of(into.dtype()), peer, comm_, stream),
                  "ncclRecv");
        };
        if (sends) send(block(call.inputs));
        if (receives) receive(block(call.outputs));
    }
}

void Communicator::finish(Deadline deadline) noexcept {
    if (comm_ == nullptr) return;
    try {
        check(ncclCommFinalize(comm_), "ncclCommFinalize");
        while (!is_ready()) {
            if (has_passed(deadline)) return abort();
            sleep_for(std::chrono::milliseconds(1));
        }
        ncclCommDestroy(std::exchange(comm_, nullptr));
    } catch (const Failure&) {
        abort();
    }
}

// ncclCommAbort ends NCCL's kernels, then waits for the device. If the device has not
// reached them, because other work holds it up, ncclCommAbort waits for this other work,
// and until then most calls of CUDA block in all threads of the process. So another
// thread waits for the device first, and then calls ncclCommAbort.
void Communicator::abort(const std::function<bool()>& is_reached) noexcept {
    const ncclComm_t comm = std::exchange(comm_, nullptr);
    if (comm == nullptr) return;
    try {
        BlockingCall running([comm, device = device_, is_reached] {
            const cuda::DeviceGuard guard(device);
            while (is_reached && !is_reached()) sleep_for(std::chrono::milliseconds(1));
            ncclCommAbort(comm);
        });
        if (!running.is_done_within(kAbortTime)) running.detach();
    } catch (const std::exception&) {  // no thread could be started
        ncclCommAbort(comm);
    }
}

}  // namespace mini::dist::nccl
