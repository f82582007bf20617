#include "layer_times.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "libmini/autograd/functions.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using mini::Tensor;
using mini::data::DataLoader;

constexpr int kSeries = 20;  // steps with marks, or without, before they alternate
constexpr double kFloat = sizeof(float);

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Floating-point operations and bytes of a layer's forward and backward pass.
struct Work {
    double forward_flops, forward_bytes, backward_flops, backward_bytes;
};

// The input x and the output y have this many floats; one operation per element.
Work elementwise(double x, double y) {
    return {x, (x + y) * kFloat, x, (x + y) * kFloat};
}

// A product with a weight of `w` floats: 2 `products` operations for the output, and as
// many for each gradient. The first layer's input needs no gradient.
Work with_weight(double x, double w, double y, double products, double input_gradients) {
    return {2 * products, (x + w + y) * kFloat, 2 * products * (1 + input_gradients),
            (y + x + w + w + input_gradients * x) * kFloat};
}

struct Layer {
    std::string name;
    std::function<Tensor(const Tensor&)> forward;
    Work work;
};

// nn::ConvNet as a list of layers with its parameters. REQUIRES: `net` outlives them.
std::vector<Layer> layers_of(mini::nn::ConvNet& net, double N) {
    std::vector<Tensor> p = net.parameters();
    const double conv1 = N * 10 * 24 * 24, pool1 = N * 10 * 12 * 12;
    const double conv2 = N * 20 * 8 * 8, pool2 = N * 20 * 4 * 4, fc1 = N * 50;
    const auto relu = [](const Tensor& x) { return mini::relu(x); };
    const auto pool = [](const Tensor& x) { return mini::max_pool2d(x, 2); };
    const auto conv = [p](size_t i) {
        return
            [w = p[i], b = p[i + 1]](const Tensor& x) { return mini::conv2d(x, w, b); };
    };
    const auto linear = [p](size_t i) {
        return
            [w = p[i], b = p[i + 1]](const Tensor& x) { return mini::linear(x, w, b); };
    };
    return {
        {"conv1", conv(0), with_weight(N * 784, 260, conv1, conv1 * 25, 0)},
        {"max_pool1", pool, elementwise(conv1, pool1)},
        {"relu1", relu, elementwise(pool1, pool1)},
        {"conv2", conv(2), with_weight(pool1, 5020, conv2, conv2 * 250, 1)},
        {"dropout2d", [](const Tensor& x) { return mini::dropout2d(x, 0.5, true); },
         elementwise(conv2, conv2)},
        {"max_pool2", pool, elementwise(conv2, pool2)},
        {"relu2", relu, elementwise(pool2, pool2)},
        {"fc1",
         [fc = linear(4)](const Tensor& x) {
             return fc(view(x, {-1, 320}));
         },
         with_weight(pool2, 16050, fc1, fc1 * 320, 1)},
        {"relu3", relu, elementwise(fc1, fc1)},
        {"dropout", [](const Tensor& x) { return mini::dropout(x, 0.5, true); },
         elementwise(fc1, fc1)},
        {"fc2", linear(6), with_weight(fc1, 510, N * 10, N * 10 * 50, 1)},
    };
}

// Repeats the data, epoch after epoch.
class Batches {
  public:
    Batches(const std::string& data, int64_t batch_size)
        : loader_(mini::data::load_data(mini::data::find_data(data), true),
                  {.batch_size = batch_size, .shuffle = true, .drop_last = true}),
          epoch_(loader_.epoch()) {}

    mini::data::Batch next() {
        auto batch = epoch_.next();
        if (!batch) {
            epoch_ = loader_.epoch();
            batch = epoch_.next();
        }
        return *std::move(batch);
    }

  private:
    DataLoader loader_;
    DataLoader::Epoch epoch_;
};

// Measures one step: each lap is the time since the lap before.
class Laps {
  public:
    explicit Laps(size_t parts) : seconds_(parts) {}

    void lap(size_t part) {
        const auto now = Clock::now();
        seconds_[part] += std::chrono::duration<double>(now - last_).count();
        last_ = now;
    }

    std::vector<double> seconds() const { return seconds_; }

  private:
    std::vector<double> seconds_;
    Clock::time_point last_ = Clock::now();
};

// The parts of a step with L layers, in its order: 0 data, 1 zero_grad, the layers'
// forward, the loss, the loss's backward, the layers' backward, optimizer, rest.
struct Parts {
    size_t L;

    size_t forward(size_t layer) const { return 2 + layer; }
    size_t loss() const { return 2 + L; }
    size_t loss_backward() const { return 3 + L; }
    size_t backward(size_t layer) const { return 3 + 2 * L - layer; }
    size_t optimizer() const { return 4 + 2 * L; }
    size_t rest() const { return 5 + 2 * L; }
    size_t count() const { return 6 + 2 * L; }
};

class Step {
  public:
    Step(const std::string& data, int64_t batch_size)
        : batch_size_(static_cast<double>(batch_size)),
          batches_(data, batch_size),
          optimizer_(model_.parameters(), {.lr = 0.01, .momentum = 0.5}),
          layers_(layers_of(model_, batch_size_)),
          parts_{layers_.size()} {}

    double loss_of_model(const mini::data::Batch& batch) {
        return cross_entropy(model_(batch.data), batch.target).item();
    }

    double loss_of_layers(const mini::data::Batch& batch) {
        Tensor y = batch.data;
        for (const Layer& layer : layers_) y = layer.forward(y);
        return cross_entropy(y, batch.target).item();
    }

    mini::data::Batch next_batch() { return batches_.next(); }

    // Runs one step of nn::ConvNet and returns its seconds.
    double run() {
        const auto start = Clock::now();
        {
            const mini::data::Batch batch = batches_.next();
            optimizer_.zero_grad();
            const Tensor loss = cross_entropy(model_(batch.data), batch.target);
            loss.backward();
            optimizer_.step();
            loss.item();
        }
        return seconds_since(start);
    }

    // Runs one step of the layers, and returns the seconds of each part.
    std::vector<double> run_with_marks() {
        Laps laps(parts_.count());
        {
            const mini::data::Batch batch = batches_.next();
            laps.lap(0);
            optimizer_.zero_grad();
            laps.lap(1);
            const Tensor loss = forward(batch, laps);
            loss.backward();
            laps.lap(parts_.backward(0));
            optimizer_.step();
            laps.lap(parts_.optimizer());
            loss.item();
        }
        laps.lap(parts_.rest());
        return laps.seconds();
    }

    // Returns the parts with their work, and without times.
    std::vector<StepPart> parts() const;

  private:
    Tensor forward(const mini::data::Batch& batch, Laps& laps) {
        Tensor y = batch.data;
        for (size_t i = 0; i < layers_.size(); ++i) {
            y = layers_[i].forward(y);
            laps.lap(parts_.forward(i));
            y = mark(
                y, laps,
                i + 1 < layers_.size() ? parts_.backward(i + 1) : parts_.loss_backward());
        }
        const Tensor loss = cross_entropy(y, batch.target);
        laps.lap(parts_.loss());
        return loss;
    }

    // Returns x. When the gradient of x arrives, `part` has ended.
    static Tensor mark(const Tensor& x, Laps& laps, size_t part) {
        return mini::record("mark", x.detach(), {x},
                            [&laps, part](const Tensor& g, const mini::Node&) {
                                laps.lap(part);
                                return mini::Grads{g};
                            });
    }

    double batch_size_;
    Batches batches_;
    mini::nn::ConvNet model_;
    mini::optim::SGD optimizer_;
    std::vector<Layer> layers_;
    Parts parts_;
};

std::vector<StepPart> Step::parts() const {
    const double scores = batch_size_ * 10, parameters = 21'840;
    std::vector<StepPart> parts(parts_.count());
    // The data: bytes are read, and written as floats.
    parts[0] = {.name = "data",
                .direction = "",
                .flops = 2 * batch_size_ * 784,
                .bytes = batch_size_ * 784 * (1 + kFloat)};
    parts[1] = {.name = "zero_grad", .direction = ""};
    for (size_t i = 0; i < layers_.size(); ++i) {
        const auto& [name, forward, work] = layers_[i];
        parts[parts_.forward(i)] = {.name = name,
                                    .direction = "forward",
                                    .flops = work.forward_flops,
                                    .bytes = work.forward_bytes};
        parts[parts_.backward(i)] = {.name = name,
                                     .direction = "backward",
                                     .flops = work.backward_flops,
                                     .bytes = work.backward_bytes};
    }
    parts[parts_.loss()] = {.name = "loss",
                            .direction = "forward",
                            .flops = 4 * scores,
                            .bytes = scores * kFloat};
    parts[parts_.loss_backward()] = {.name = "loss",
                                     .direction = "backward",
                                     .flops = 2 * scores,
                                     .bytes = 2 * scores * kFloat};
    // SGD with momentum reads weight, gradient and velocity, and writes two of them.
    parts[parts_.optimizer()] = {.name = "optimizer",
                                 .direction = "",
                                 .flops = 4 * parameters,
                                 .bytes = 5 * parameters * kFloat};
    parts[parts_.rest()] = {.name = "rest", .direction = ""};
    return parts;
}

double total(const std::vector<double>& times) {
    double sum = 0;
    for (const double time : times) sum += time;
    return sum;
}

// Returns the mean of each part over the steps, without the slowest quarter of them.
std::vector<double> means(std::vector<std::vector<double>> steps) {
    std::ranges::sort(steps, {}, total);
    const size_t kept = steps.size() - steps.size() / 4;
    std::vector<double> mean(steps.front().size());
    for (size_t step = 0; step < kept; ++step)
        for (size_t part = 0; part < mean.size(); ++part)
            mean[part] += steps[step][part] / static_cast<double>(kept);
    return mean;
}

}  // namespace

StepProfile profile_step(const std::string& data, int64_t batch_size, double seconds) {
    mini::manual_seed(1);
    Step step(data, batch_size);
    StepProfile profile;
    const mini::data::Batch batch = step.next_batch();
    mini::manual_seed(2);  // equal masks of dropout
    profile.first_loss = step.loss_of_layers(batch);
    mini::manual_seed(2);
    profile.model_loss = step.loss_of_model(batch);

    // Warm up, then alternate.
    for (int i = 0; i < kSeries / 4; ++i) step.run();
    std::vector<std::vector<double>> with_marks, without;
    const auto start = Clock::now();
    do {
        for (int i = 0; i < kSeries; ++i) with_marks.push_back(step.run_with_marks());
        for (int i = 0; i < kSeries; ++i) without.push_back({step.run()});
    } while (seconds_since(start) < seconds);

    profile.parts = step.parts();
    const std::vector<double> seconds_of = means(with_marks);
    for (size_t i = 0; i < profile.parts.size(); ++i)
        profile.parts[i].seconds = seconds_of[i];
    profile.step_seconds = means(without).front();
    return profile;
}

}  // namespace bench
