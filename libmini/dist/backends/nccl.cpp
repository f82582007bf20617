#include "libmini/dist/backends/nccl.hpp"

#include <cuda_runtime.h>
#include <nccl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "libmini/core/machine.hpp"
#include "libmini/dist/backends/verify.hpp"
#include "libmini/dist/mesh_transport.hpp"

namespace mini::dist {
namespace {

// What CUDA or NCCL say of themselves.
class GpuFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

void check(cudaError_t code, const char* call) {
    if (code != cudaSuccess)
        throw GpuFailure(concat(call, ": ", cudaGetErrorString(code)));
}

// Calls of a non-blocking communicator may be still in progress.
void check(ncclResult_t code, const char* call) {
    if (code != ncclSuccess && code != ncclInProgress)
        throw GpuFailure(concat(call, ": ", ncclGetErrorString(code)));
}

// "2.28".
std::string nccl_version() {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return concat(version / 10000, ".", version / 100 % 100);
}

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

class NcclBackend : public VerifyingBackend {
  public:
    NcclBackend(std::unique_ptr<Transport> side, bool verify, int gpu)
        : VerifyingBackend(std::move(side), verify), gpu_(gpu) {
        check(cudaSetDevice(gpu_), "cudaSetDevice");
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
        check(cudaMalloc(&nothing_, sizeof(float)), "cudaMalloc");
    }
    ~NcclBackend() override {
        abandon();
        cudaFree(nothing_);
        cudaStreamDestroy(stream_);
    }

    // Blocks until all ranks have called it.
    void connect(const ncclUniqueId& id, Deadline deadline) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        check(ncclCommInitRankConfig(&comm_, world_size(), id, rank(), &config),
              "ncclCommInitRankConfig");
        wait_for_communicator(deadline);
    }

    std::string name() const override { return "nccl"; }
    void post(PointMessage& message) override {
        throw Error(concat(describe(message),
                           ": backend nccl needs it on a GPU, but it is on the CPU; use "
                           "backend ring, gloo or mpi"));
    }

  protected:
    size_t move_points() override { return 0; }
    void transfer(const Call& call, Deadline deadline) override;
    void abandon() noexcept override {
        if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
    }

  private:
    void start(const Call& call);
    void exchange(const Call& call, size_t count, ncclDataType_t type);
    void wait_for_communicator(Deadline deadline);

    const int gpu_;
    cudaStream_t stream_ = nullptr;
    void* nothing_ = nullptr;  // what a barrier adds up
    ncclComm_t comm_ = nullptr;
};

void NcclBackend::transfer(const Call& call, Deadline deadline) {
    for (const auto* tensors : {&call.outputs, &call.inputs})
        for (const Tensor& tensor : *tensors)
            MINI_CHECK(
                !tensor.device().is_cpu(), operation_name(call.operation),
                ": backend nccl needs tensors on a GPU, but this one is on the CPU; "
                "use backend ring, gloo or mpi");
    check(cudaSetDevice(gpu_), "cudaSetDevice");  // each thread has its own
    start(call);
    wait_for_communicator(deadline);
    wait_until(
        [this] {
            const cudaError_t state = cudaStreamQuery(stream_);
            if (state != cudaErrorNotReady) check(state, "cudaStreamQuery");
            ncclResult_t async = ncclSuccess;
            check(ncclCommGetAsyncError(comm_, &async), "ncclCommGetAsyncError");
            check(async, operation_name(Operation::kAllReduce));
            return state == cudaSuccess;
        },
        deadline);
}

void NcclBackend::wait_for_communicator(Deadline deadline) {
    wait_until(
        [this] {
            ncclResult_t state = ncclSuccess;
            check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
            check(state, "the communicator");
            return state == ncclSuccess;
        },
        deadline);
}

void NcclBackend::start(const Call& call) {
    const bool is_barrier = call.operation == Operation::kBarrier;
    const Tensor* const any = is_barrier              ? nullptr
                              : !call.outputs.empty() ? &call.outputs.front()
                                                      : &call.inputs.front();
    const size_t count = is_barrier ? 1 : static_cast<size_t>(any->numel());
    const ncclDataType_t type = is_barrier ? ncclFloat32 : type_of(any->dtype());
    void* const data = is_barrier ? nothing_ : any->raw_data();
    switch (call.operation) {
        case Operation::kBarrier:
        case Operation::kAllReduce:
            return check(ncclAllReduce(data, data, count, type, op_of(call.reduce_op),
                                       comm_, stream_),
                         "ncclAllReduce");
        case Operation::kBroadcast:
            return check(
                ncclBroadcast(data, data, count, type, call.root, comm_, stream_),
                "ncclBroadcast");
        case Operation::kReduce:
            return check(ncclReduce(data, data, count, type, op_of(call.reduce_op),
                                    call.root, comm_, stream_),
                         "ncclReduce");
        case Operation::kReduceScatter:
            check(ncclGroupStart(), "ncclGroupStart");
            for (int root = 0; root < world_size(); ++root)
                check(
                    ncclReduce(call.inputs[static_cast<size_t>(root)].raw_data(), data,
                               count, type, op_of(call.reduce_op), root, comm_, stream_),
                    "ncclReduce");
            return check(ncclGroupEnd(), "ncclGroupEnd");
        case Operation::kAllGather:
        case Operation::kGather:
        case Operation::kScatter:
        case Operation::kAllToAll: return exchange(call, count, type);
        case Operation::kSend:
        case Operation::kRecv: break;
    }
    throw Error(concat(operation_name(call.operation), " is no collective"));
}

// Blocks from rank to rank. The same input for all, or one for each; likewise outputs.
void NcclBackend::exchange(const Call& call, size_t count, ncclDataType_t type) {
    const bool to_root = call.operation == Operation::kGather;
    const bool from_root = call.operation == Operation::kScatter;
    check(ncclGroupStart(), "ncclGroupStart");
    for (int peer = 0; peer < world_size(); ++peer) {
        const auto i = static_cast<size_t>(peer);
        const bool sends =
            from_root ? rank() == call.root : !to_root || peer == call.root;
        const bool receives =
            to_root ? rank() == call.root : !from_root || peer == call.root;
        if (sends)
            check(ncclSend(call.inputs[call.inputs.size() > 1 ? i : 0].raw_data(), count,
                           type, peer, comm_, stream_),
                  "ncclSend");
        if (receives)
            check(ncclRecv(call.outputs[call.outputs.size() > 1 ? i : 0].raw_data(),
                           count, type, peer, comm_, stream_),
                  "ncclRecv");
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
}

// ---- meeting

// The GPU of this process: LOCAL_RANK's, or the rank's where all are on one host.
int choose_gpu(int rank) {
    int gpus = 0;
    const cudaError_t state = cudaGetDeviceCount(&gpus);
    MINI_CHECK(state == cudaSuccess && gpus > 0,
               "backend nccl: this host has no GPU that "
               "CUDA can use (",
               cudaGetErrorString(state), "); use backend ring");
    const char* const local_rank = std::getenv("LOCAL_RANK");
    return (local_rank != nullptr ? std::atoi(local_rank) : rank) % gpus;
}

// "0 of host node7 (0000:17:00.0)": the same text, the same GPU.
std::string gpu_text(int gpu) {
    char bus[32] = "";
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu), "cudaDeviceGetPCIBusId");
    return concat(gpu, " of host ", host_name(), " (", bus, ")");
}

void check_gpus(Store& store, const Meeting& meeting, int gpu, Deadline deadline) {
    store.set(concat("nccl/gpu/", meeting.rank), gpu_text(gpu));
    std::vector<std::string> gpus;
    for (int rank = 0; rank < meeting.world_size; ++rank)
        gpus.push_back(store.get(concat("nccl/gpu/", rank), deadline));
    const std::string fault = shared_gpu_fault(gpus, nccl_version());
    MINI_CHECK(fault.empty(), fault);
}

// Rank 0 makes the communicator's number, and the store brings it to all.
ncclUniqueId agree_on_id(Store& store, int rank, Deadline deadline) {
    ncclUniqueId id;
    if (rank == 0) {
        check(ncclGetUniqueId(&id), "ncclGetUniqueId");
        store.set("nccl/id", std::string(id.internal, sizeof id.internal));
    }
    const std::string text = store.get("nccl/id", deadline);
    MINI_CHECK(text.size() == sizeof id.internal, "backend nccl: rank 0's number has ",
               text.size(), " bytes, not ", sizeof id.internal,
               "; all ranks need the same version of NCCL");
    std::memcpy(id.internal, text.data(), text.size());
    return id;
}

}  // namespace

std::string why_no_nccl() { return ""; }

std::shared_ptr<QueuedGroup> make_nccl_group(const Meeting& meeting, bool verify,
                                             std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    const int gpu = choose_gpu(meeting.rank);
    Rendezvous rendezvous = meet(meeting, deadline);
    Store& store = *rendezvous.store;
    check_gpus(store, meeting, gpu, deadline);
    Mesh mesh =
        connect_mesh(meeting, store, rendezvous.local_host, Medium::kAuto, deadline);
    auto backend = std::make_unique<NcclBackend>(
        std::make_unique<MeshTransport>(meeting.rank, std::move(mesh.streams)), verify,
        gpu);
    backend->connect(agree_on_id(store, meeting.rank, deadline), deadline);
    auto group = std::make_shared<QueuedGroup>(std::move(backend), timeout);

    // Nobody may leave, and close the store, while another still needs it.
    part(std::move(rendezvous), deadline);
    group->barrier();
    return group;
}

}  // namespace mini::dist
