#include "libmini/training/captured_step.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/graph.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::training {
namespace {

constexpr int kWarmUps = 2;
constexpr uint64_t kWordsPerDraw = 4;  // each replay adds this to the offset

int device_index_of(const optim::Optimizer& optimizer) {
    if (dynamic_cast<const optim::SGD*>(&optimizer) == nullptr)
        throw UsageError(
            "CapturedStep: only SGD's step can be captured; Adam and other optimizers "
            "pass their step number as a launch argument, which a graph repeats");
    const Device device = optimizer.parameters()[0].device();
    for (const Tensor& parameter : optimizer.parameters())
        if (parameter.device() != device || !device.is_cuda())
            throw UsageError(concat("CapturedStep: a parameter is on ",
                                    parameter.device(),
                                    "; all must be on one CUDA device, move them with "
                                    "Module::to()"));
    return device.index;
}

}  // namespace

// The graph is the last member, so that it is destroyed before the memory that it uses.
struct CapturedStep::Capture {
    explicit Capture(int device)
        : stream(device),
          pool(device),
          before(device),
          after(device),
          draws(Tensor::zeros({1}, DType::kInt64, Device::cuda(device))),
          lr(Tensor::empty({1}, DType::kFloat32, Device::cuda(device))) {}

    const uint64_t* more_offset() const {
        return reinterpret_cast<const uint64_t*>(draws.raw_data());
    }

    void advance_draws(uint64_t words) {
        gpu::advance(reinterpret_cast<uint64_t*>(draws.raw_data()), words, stream.get());
    }

    void write_lr(double value) {
        if (value == lr_written) return;
        gpu::fill(lr.data<float>(), static_cast<float>(value), 1, stream.get());
        lr_written = value;
    }

    cuda::Stream stream;
    cuda::GraphPool pool;
    cuda::Event before, after;
    Tensor draws;                // (1), random draws add this number to their offset
    Tensor lr;                   // (1), the learning rate of the next replay
    std::vector<Tensor> inputs;  // the graph reads the batch from these tensors
    Tensor loss;                 // the graph writes the loss to this tensor
    int warm_ups = 0;
    std::optional<double> lr_written;
    std::optional<cuda::Graph> graph;
};

CapturedStep::CapturedStep(optim::Optimizer& optimizer, Loss loss)
    : optimizer_(optimizer),
      loss_(std::move(loss)),
      capture_(std::make_unique<Capture>(device_index_of(optimizer))) {}

CapturedStep::~CapturedStep() = default;

Tensor CapturedStep::operator()(const std::vector<Tensor>& batch) {
    Capture& mine = *capture_;
    const int device = mine.stream.device();
    const Device gpu = Device::cuda(device);
    const cuda::DeviceGuard guard(device);  // now null is this device's default stream
    if (mine.inputs.empty())
        for (const Tensor& input : batch)
            mine.inputs.push_back(Tensor::empty(input.shape(), input.dtype(), gpu));
    if (!matches_inputs(batch)) {
        std::vector<Tensor> moved;
        for (const Tensor& input : batch)
            moved.push_back(input.to(gpu, /*non_blocking=*/true));
        return compute(moved);
    }

    // The graph's stream waits for the caller's stream; afterwards, the caller's stream
    // waits for the graph's stream.
    mine.before.record(cuda::current_stream(device));
    mine.before.wait(mine.stream.get());
    {
        const cuda::StreamGuard current(mine.stream);
        for (size_t i = 0; i < batch.size(); ++i)
            ops::copy_(mine.inputs[i], batch[i], /*non_blocking=*/true);
        if (mine.warm_ups < kWarmUps) {
            const cuda::GraphPool::Scope scope(mine.pool);
            mine.loss = compute(mine.inputs);
            mine.advance_draws(0);  // a kernel's first launch may wait for the device
            ++mine.warm_ups;
        } else {
            if (!mine.graph) capture();
            replay();
        }
    }
    mine.after.record(mine.stream.get());
    mine.after.wait(cuda::current_stream(device));
    return mine.loss;
}

Tensor CapturedStep::compute(const std::vector<Tensor>& batch) {
    optimizer_.zero_grad();
    const Tensor loss = loss_(batch);
    loss.backward();
    optimizer_.step();
    return loss.detach();
}

bool CapturedStep::matches_inputs(const std::vector<Tensor>& batch) const {
    const auto& inputs = capture_->inputs;
    bool fits = batch.size() == inputs.size();
    for (size_t i = 0; fits && i < batch.size(); ++i)
        fits = batch[i].shape() == inputs[i].shape() &&
               batch[i].dtype() == inputs[i].dtype();
    return fits;
}

// REQUIRES: the graph's stream is the current stream.
void CapturedStep::capture() {
    Capture& mine = *capture_;
    mine.stream.synchronize();  // no work may be pending when a capture begins
    const cuda::GraphPool::Scope scope(mine.pool);
    const cuda::RecordedDraws draws(mine.more_offset());
    const cuda::RecordedRate rate(mine.lr.data<float>());
    mine.graph.emplace(mine.stream, [&] {
        mine.loss = compute(mine.inputs);
        mine.advance_draws(kWordsPerDraw);
    });
}

void CapturedStep::replay() {
    capture_->write_lr(optimizer_.lr());
    capture_->graph->replay(capture_->stream);
    for (Tensor parameter : optimizer_.parameters()) parameter.bump_version();
    ++replays_;
}

}  // namespace mini::training
