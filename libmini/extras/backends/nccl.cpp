#include "libmini/extras/backends/nccl.hpp"

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/machine.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/extras/backends/nccl_calls.hpp"
#include "libmini/extras/backends/nccl_collective.hpp"
#include "libmini/extras/backends/start_group.hpp"
#include "libmini/extras/backends/verify.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {
namespace {

using std::chrono::milliseconds;

// The broadcast of the ncclUniqueId, before the first collective of the group.
const Collective kMeeting{.operation = Operation::kBroadcast,
                          .dtype = DType::kUInt8,
                          .root = 0,
                          .count = sizeof(ncclUniqueId),
                          .sequence = kFirstJoiningSequence + 1};

// How long ranks that leave together wait for each other in ncclCommFinalize.
constexpr milliseconds kPartingTime(5000);

// The maximum number of collectives in the stream. A CUDA stream holds about a thousand
// launches; the next launch blocks its thread until the device makes progress. The
// communication thread must not block, because it aborts the communicator if the device
// is stuck.
constexpr size_t kMostOnGpu = 128;

class NcclBackend : public VerifyingBackend {
  public:
    NcclBackend(SideChannel side, int gpu)
        : VerifyingBackend(std::move(side)), gpu_(gpu), stream_(gpu) {}
    ~NcclBackend() override {
        free_gpu();
        if (has_failed()) stream_.abandon();  // the stream's work may never end
    }

    /// Creates the communicator; blocks until all ranks have called connect(). Throws
    /// PeerLost or Timeout naming the rank that has not called it.
    void connect(milliseconds timeout);

    std::string name() const override { return "nccl"; }
    const char* last_algorithm() const override { return last_algorithm_; }
    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   ProcessGroup& parent) override;
    std::unique_ptr<GpuCollective> on_gpu(const Call& call) override;

    // Our own algorithms block in the side channel, so pass these calls on to it.
    void wake() noexcept override {
        VerifyingBackend::wake();
        side().transport->wake();
    }
    void set_on_wake(std::function<void()> on_wake) override {
        side().transport->set_on_wake(on_wake);
        VerifyingBackend::set_on_wake(std::move(on_wake));
    }
    void interrupt() noexcept override {
        VerifyingBackend::interrupt();
        side().transport->interrupt();
    }
    void free_gpu() noexcept override {
        communicator_.abort(launched_.empty() ? nullptr
                                              : launched_.front()->when_begun());
        launched_.clear();
    }

  protected:
    void transfer(const Call& call, Deadline deadline) override;
    void issue(GpuCollective& collective) override;
    size_t finish_on_gpu() override;
    void abandon() noexcept override {}  // free_gpu() aborts the communicator
    void part() noexcept override;

  private:
    ncclUniqueId agree_on_id(milliseconds timeout);
    bool is_done(const NcclCollective& collective);

    const int gpu_;
    cuda::Stream stream_;
    nccl::Communicator communicator_;
    std::deque<NcclCollective*> launched_;  // in stream order
    const char* last_algorithm_ = "";
};

// ---- rendezvous

void NcclBackend::connect(milliseconds timeout) {
    connect_or_leave([&] {
        try {
            const ncclUniqueId id = agree_on_id(timeout);
            const cuda::DeviceGuard guard(gpu_);
            communicator_.start(rank(), world_size(), id);
            wait_for_ranks([this] { return communicator_.is_ready(); }, timeout,
                           "for the rendezvous of the GPUs");
        } catch (const nccl::Failure& failure) {
            throw_library_failure("the rendezvous of the GPUs", failure.what());
        }
    });
}

// Finalizes the communicator instead of aborting it: an abort frees memory that other
// ranks may still read.
void NcclBackend::part() noexcept {
    try {
        const cuda::DeviceGuard guard(gpu_);
        communicator_.finish(deadline_after(kPartingTime));
    } catch (const Error&) {  // the device is lost
        communicator_.abort();
    }
}

// Rank 0 creates the ID of the communicator and broadcasts it.
ncclUniqueId NcclBackend::agree_on_id(milliseconds timeout) {
    ncclUniqueId id{};
    if (rank() == 0) nccl::check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    side().transport->begin(kMeeting, timeout);
    tree_broadcast(*side().transport, std::as_writable_bytes(std::span(id.internal)), 0);
    return id;
}

std::unique_ptr<Backend> NcclBackend::split(const std::vector<int>& ranks,
                                            ProcessGroup& parent) {
    auto side = side_of(ranks, parent);
    if (!side) return nullptr;
    auto backend = std::make_unique<NcclBackend>(std::move(*side), gpu_);
    backend->connect(parent.timeout());
    return backend;
}

// ---- on the host: our own algorithms, over the side channel

void NcclBackend::transfer(const Call& call, Deadline /*deadline*/) {
    last_algorithm_ = run_over(*side().transport, call, side().hosts);
}

// ---- on the GPU

std::unique_ptr<GpuCollective> NcclBackend::on_gpu(const Call& call) {
    const Device device = call.any_tensor().device();
    MINI_CHECK(device.index == gpu_, operation_name(call.operation),
               ": the tensor is on ", device, ", but rank ", rank(),
               "'s GPU in backend nccl is ", Device::cuda(gpu_),
               "; move it there, or call set_default_device before init_process_group");
    return std::make_unique<NcclCollective>(gpu_);
}

// Launches NCCL's kernel between begin() and end(), as soon as the stream has room and all
// collectives that were called earlier are launched. A call of a non-blocking communicator
// may return before the kernel is in the stream, so wait until the communicator is ready
// before end().
void NcclBackend::issue(GpuCollective& made) {
    auto& collective = static_cast<NcclCollective&>(made);  // a result of on_gpu()
    const cuda::DeviceGuard guard(gpu_);
    wait_until([&] { return launched_.size() < kMostOnGpu && collective.has_turn(); },
               kNever);  // earlier collectives have deadlines
    collective.deadline = deadline_after(collective.timeout);
    collective.begin(stream_.get());
    if (collective.collective.count > 0) {
        communicator_.start(*collective.call, stream_.get());
        wait_until([this] { return communicator_.is_ready(); }, collective.deadline);
    }
    collective.end(stream_.get());
    collective.give_up_turn();
    launched_.push_back(&collective);
}

size_t NcclBackend::finish_on_gpu() {
    // Collectives end in stream order, so check only the first.
    size_t finished = 0;
    while (!launched_.empty() && is_done(*launched_.front())) {
        NcclCollective& first = *launched_.front();
        launched_.pop_front();
        finish(first);
        ++finished;
    }
    for (const NcclCollective* collective : launched_)
        if (has_passed(collective->deadline))
            throw_silence(collective->timeout,
                          concat("in ", describe(collective->collective)));
    return finished;
}

bool NcclBackend::is_done(const NcclCollective& collective) {
    const std::string text = describe(collective.collective);
    try {
        communicator_.is_ready();
        if (collective.is_done()) return true;
    } catch (const std::exception& failure) {
        throw_library_failure(text, failure.what());
    }
    return false;
}

// ---- which GPU

// Returns the index of the thread's default device if that device is a GPU. Otherwise
// returns LOCAL_RANK, or `rank` if LOCAL_RANK is not set, modulo the number of GPUs.
int choose_gpu(int rank) {
    int gpus = 0;
    const cudaError_t state = cudaGetDeviceCount(&gpus);
    MINI_CHECK(state == cudaSuccess && gpus > 0,
               "backend nccl: this host has no GPU that CUDA can use (",
               cudaGetErrorString(state), "); use backend ring");
    if (default_device().is_cuda()) return default_device().index;
    const auto variables = read_rank_variables();
    return (variables && variables->local_rank >= 0 ? variables->local_rank : rank) %
           gpus;
}

// Returns a text that identifies the GPU: "0 of host node7 (GPU-6f1e...)". The number is
// nvidia-smi's: two MIG instances of a GPU share its place on the PCI bus, but each
// instance has a number of its own.
std::string gpu_text(int gpu) {
    return concat(gpu, " of host ", host_name(), " (", cuda::device_uuid(gpu), ")");
}

// Throws Error on all ranks if two ranks have the same GPU.
void check_gpus(Store& store, const RendezvousConfig& config, int gpu,
                Deadline deadline) {
    store.set(concat("nccl/gpu/", config.rank), gpu_text(gpu));
    std::map<std::string, std::vector<int>> ranks_by_gpu;
    for (int rank = 0; rank < config.world_size; ++rank)
        ranks_by_gpu[store.get(concat("nccl/gpu/", rank), deadline)].push_back(rank);
    for (const auto& [name, ranks] : ranks_by_gpu)
        MINI_CHECK(
            ranks.size() == 1, "GPU ", name, " is used by ", rank_list(ranks), ": NCCL ",
            nccl::version(),
            " cannot have several ranks on one GPU; start one rank per GPU, or use "
            "backend ring");
}

}  // namespace

void use_nccl() {
    register_backend("nccl", [](const InitOptions& options) {
        return std::shared_ptr<ProcessGroup>(make_nccl_group(
            rendezvous_config(options.init_method, options.rank, options.world_size),
            options.verify.value_or(false), options.timeout));
    });
}

std::shared_ptr<QueuedGroup> make_nccl_group(const RendezvousConfig& config, bool verify,
                                             milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    const int gpu = choose_gpu(config.rank);
    const auto make = [&](SideChannel side, Store& store) {
        check_gpus(store, config, gpu, deadline);
        auto backend = std::make_unique<NcclBackend>(std::move(side), gpu);
        backend->connect(timeout);
        return backend;
    };
    return start_group(join_rendezvous(config, deadline), config, verify, timeout,
                       deadline, make);
}

}  // namespace mini::dist
