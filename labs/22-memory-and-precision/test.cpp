// The checks of lab 22, tasks 22.1 and 22.2: activation checkpointing.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "labs/22-memory-and-precision/test_support.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab22;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

Tensor plain(const Function& function, const Tensor& x) { return function(x); }

// Calls visit(name, apply): once with apply = plain, once with checkpoint.
template <typename Visit>
void with_and_without(const Visit& visit) {
    visit("without a checkpoint", plain);
    visit("with a checkpoint", [](const Function& function, const Tensor& x) {
        return checkpoint(function, x);
    });
}

}  // namespace

// ---- 22.1

TEST_CASE(
    "the function is called once in forward and once in backward, with the same bits",
    "[lab22][lab22.1]") {
    std::vector<Values> found;
    std::vector<std::pair<int, int>> calls;
    with_and_without([&](const std::string&, const auto& apply) {
        Layers layers(3);
        Tensor x = draw({4, kSize}, 1).set_requires_grad();
        const Tensor y = apply([&](const Tensor& in) { return layers(in); }, x);
        const int forward = layers.calls / 3;
        sum(y * y).backward();
        calls.emplace_back(forward, layers.calls / 3);
        Values all = values_of({y, x.grad()});
        const Values gradients = layers.gradients();
        all.insert(all.end(), gradients.begin(), gradients.end());
        found.push_back(all);
    });
    INFO("three layers in one checkpoint; after forward the function was called "
         << calls[1].first << " times, and after backward " << calls[1].second);
    REQUIRE(calls[1] == std::pair(1, 2));
    INFO("the result, the gradient of x and those of the weights have the same bits");
    REQUIRE(found[0] == found[1]);
}

TEST_CASE("between forward and backward only the input is in memory",
          "[lab22][lab22.1]") {
    std::vector<int64_t> kept, in_pass, after;
    with_and_without([&](const std::string&, const auto& apply) {
        Layers layers(6);
        const Tensor x = draw({kSize, kSize}, 1);
        const size_t before = allocated_bytes();
        const Tensor y = apply([&](const Tensor& in) { return layers(in); }, x);
        kept.push_back(matrices_beyond(before));
        // When the first layer's gradient comes, all others have come.
        grad_accumulator(layers.weights[0])->add_hook([&](const Tensor&) {
            in_pass.push_back(matrices_beyond(before));
        });
        sum(y).backward();
        after.push_back(matrices_beyond(before));
    });
    INFO(
        "six layers, each of which saves two matrices; y is one of them, and stays. "
        "Matrices in memory after forward: without a checkpoint "
        << kept[0] << ", with one " << kept[1]);
    REQUIRE(kept[0] == 12);
    REQUIRE(kept[1] == 1);
    {
        INFO(
            "in backward the second call saves all of them again; each must be freed "
            "when its gradients are computed. When the last gradient comes there are "
            << in_pass[1] << " matrices, six of them gradients; without a checkpoint "
            << in_pass[0]);
        REQUIRE(in_pass[1] <= in_pass[0] + 1);
    }
    INFO("after backward: y and six gradients are 7; there are " << after[1]);
    REQUIRE(after[1] == 7);
}

TEST_CASE("of several checkpoints only one has its values in memory at a time",
          "[lab22][lab22.1]") {
    std::vector<int64_t> peaks;
    for (const size_t each : {6, 1}) {  // layers in a checkpoint
        Layers layers(6);
        const Tensor x = draw({kSize, kSize}, 1);
        const size_t before = allocated_bytes();
        Tensor y = x;
        for (size_t begin = 0; begin < 6; begin += each)
            y = checkpoint(
                [&layers, begin, each](Tensor in) {
                    for (size_t i = begin; i < begin + each; ++i)
                        in = layers.layer(in, i);
                    return in;
                },
                y);
        reset_peak_bytes();
        sum(y).backward();
        peaks.push_back(static_cast<int64_t>((max_allocated_bytes() - before) / kMatrix));
        INFO("six layers in checkpoints of " << each << "; layers called " << layers.calls
                                             << " times");
        CHECK(layers.calls == 12);
    }
    // In checkpoints of one: 6 inputs, up to 6 gradients, 2 saved matrices and 4 that are
    // being computed. In one checkpoint: 12 saved matrices in place of the 8.
    INFO("peak in backward, in matrices: one checkpoint of six layers "
         << peaks[0] << ", six checkpoints of one " << peaks[1]);
    REQUIRE(peaks[1] < peaks[0]);
}

TEST_CASE("parameters and other tensors get gradients, even if the input needs none",
          "[lab22][lab22.1]") {
    std::vector<Values> found;
    with_and_without([&](const std::string& name, const auto& apply) {
        Tensor table = draw({5, 3}, 1).set_requires_grad();
        Tensor scale = draw({3}, 2).set_requires_grad();
        const Tensor doubled = scale * 2.0f;  // no leaf, and used twice
        const Tensor tokens = Tensor::from(std::vector<int64_t>{3, 0, 3});
        const Tensor y = apply(
            [&](const Tensor& in) { return embedding(in, table) * doubled; }, tokens);
        INFO(name << ", the input is int64");
        REQUIRE(y.requires_grad());
        sum(y * doubled).backward();
        REQUIRE(table.grad().defined());
        INFO(
            "`doubled` was computed outside, and gets gradients from inside and outside");
        REQUIRE(scale.grad().defined());
        found.push_back(values_of({table.grad(), scale.grad()}));
    });
    REQUIRE(found[0] == found[1]);

    INFO("a frozen network needs no gradients: its result must require none");
    Tensor frozen = draw({3}, 2);
    const Tensor y = checkpoint([&](const Tensor& in) { return in * frozen; }, frozen);
    REQUIRE_FALSE(y.requires_grad());
}

TEST_CASE("gradients come in the same order, and once for each parameter",
          "[lab22][lab22.1]") {
    std::vector<std::vector<size_t>> orders;
    std::vector<Values> found;
    with_and_without([&](const std::string&, const auto& apply) {
        Layers layers(3);
        std::vector<size_t> order;
        for (size_t i = 0; i < 3; ++i)
            grad_accumulator(layers.weights[i])->add_hook([&order, i](const Tensor&) {
                order.push_back(i);
            });
        // Weight 0 is used in two checkpoints, and between them; weight 2 only between.
        const auto shared = [&](const Tensor& in) {
            return layers.layer(layers.layer(in, 0), 1);
        };
        Tensor y = apply(shared, draw({4, kSize}, 1));
        y = layers.layer(layers.layer(y, 0), 2);
        y = apply(shared, y);
        sum(y * y).backward();
        orders.push_back(order);
        found.push_back(layers.gradients());
    });
    INFO(
        "weights 0 and 1 are used in two checkpoints. Their hooks are called once, with "
        "the whole gradient, as without checkpoints: order "
        << concat(orders[0]) << "; with checkpoints " << concat(orders[1]));
    INFO("a backward pass of its own for each checkpoint calls them once for each");
    REQUIRE(orders[0] == orders[1]);
    REQUIRE(found[0] == found[1]);
}

TEST_CASE("without recording the function is only called", "[lab22][lab22.1]") {
    Layers layers(1);
    Tensor x = draw({4, kSize}, 1).set_requires_grad();
    const Function function = [&](const Tensor& in) { return layers(in); };
    checkpoint(function, x);  // an unfinished task ends here
    const NoGradGuard no_grad;
    const size_t before = allocated_bytes();
    const Tensor y = checkpoint(function, x);
    CHECK(layers.calls == 2);
    CHECK_FALSE(y.requires_grad());
    CHECK(allocated_bytes() - before == y.bytes());
}

TEST_CASE("checkpoints may be nested", "[lab22][lab22.1]") {
    std::vector<Values> found;
    std::vector<int64_t> kept;
    int inner_calls = 0;
    with_and_without([&](const std::string&, const auto& apply) {
        Layers outer(2), inner(2);
        Tensor x = draw({kSize, kSize}, 1).set_requires_grad();
        const size_t before = allocated_bytes();
        const Tensor y = apply(
            [&](const Tensor& in) {
                const Tensor a = outer.layer(in, 0);
                return outer.layer(apply([&](const Tensor& b) { return inner(b); }, a),
                                   1);
            },
            x);
        kept.push_back(matrices_beyond(before));
        sum(y * y).backward();
        inner_calls = inner.calls / 2;
        found.push_back(values_of({x.grad()}));
        for (Layers* layers : {&outer, &inner}) found.push_back(layers->gradients());
    });
    for (size_t i = 0; i < 3; ++i) CHECK(found[i] == found[i + 3]);
    INFO(
        "the inner checkpoint's input is in the outer one: after forward only y is "
        "there; there are "
        << kept[1] << " matrices");
    CHECK(kept[1] == 1);
    INFO("forward, the outer checkpoint's second call, and the inner one's in it");
    CHECK(inner_calls == 3);
}

TEST_CASE("a second backward pass calls the function again", "[lab22][lab22.1]") {
    Layers layers(2);
    const Tensor y =
        checkpoint([&](const Tensor& in) { return layers(in); }, draw({4, kSize}, 1));
    const Tensor loss = sum(y);
    loss.backward({.gradient = Tensor::scalar(1), .retain_graph = true});
    const Values once = layers.weights[0].grad().to_vector<float>();
    loss.backward();
    CHECK(layers.calls / 2 == 3);
    const Values twice = layers.weights[0].grad().to_vector<float>();
    for (size_t i = 0; i < once.size(); ++i) REQUIRE(twice[i] == 2 * once[i]);
}

TEST_CASE("an operation whose result is not used is counted, and not needed",
          "[lab22][lab22.1]") {
    std::vector<Values> found;
    with_and_without([&](const std::string&, const auto& apply) {
        Tensor w = draw({8}, 1).set_requires_grad();
        Tensor x = draw({8}, 2).set_requires_grad();
        const Tensor y = apply(
            [&](const Tensor& in) {
                const Tensor product = in * w;
                exp(product);
                const Tensor square = product * product;
                tanh(square);
                return square;
            },
            x);
        sum(y * y).backward();
        found.push_back(values_of({w.grad(), x.grad()}));
    });
    INFO("of in * w, exp, product * product and tanh the pass needs two functions");
    REQUIRE(found[0] == found[1]);
}

TEST_CASE("backward throws if the second call differs or the input has changed",
          "[lab22][lab22.1]") {
    const auto pass = [](const Function& second, bool changes_input = false) {
        Tensor w = draw({8}, 1).set_requires_grad();
        Tensor x = draw({8}, 2);
        bool is_second = false;
        const Tensor y = checkpoint(
            [&](const Tensor& in) {
                return std::exchange(is_second, true) ? second(in * w) : in * w;
            },
            x);
        if (changes_input) ops::fill_(x, 1.0f);
        const auto backward = [&] {
            y.backward({.gradient = Tensor::ones(y.shape()), .retain_graph = true});
        };
        const std::string error = error_of(backward);
        return error == error_of(backward) ? error : "no error";  // of both passes
    };
    const auto same = [](const Tensor& x) { return x; };
    CHECK(pass(same) == "no error");
    INFO("a second backward pass calls the function again, and throws again");
    INFO("the second call must record as many operations as the first");
    CHECK(pass([](const Tensor& x) { return x * 2.0f; }) != "no error");
    INFO("its result must have the same shape; here (4,) or (2, 4) in place of (8,)");
    CHECK(pass([](const Tensor& x) { return ops::narrow(x, 0, 0, 4); }) != "no error");
    CHECK(pass([](const Tensor& x) { return ops::view(x, {2, 4}); }) != "no error");
    INFO("the input was changed in place: the second call would have another input");
    CHECK(pass(same, true) != "no error");
}

TEST_CASE("the second call computes in the precision of the first", "[lab22][lab22.1]") {
    const DType in_forward = GENERATE(DType::kBFloat16, DType::kFloat32);
    const DType in_backward = GENERATE(DType::kFloat16, DType::kFloat32);
    std::vector<DType> seen;
    Tensor w = draw({8}, 1).set_requires_grad();
    Tensor y;
    {
        const AutocastGuard guard(in_forward);
        y = checkpoint(
            [&](const Tensor& in) {
                seen.push_back(AutocastGuard::dtype());
                return in * w;
            },
            draw({8}, 2));
    }
    const AutocastGuard guard(in_backward);
    sum(y).backward();
    INFO("AutocastGuard: " << in_forward << " in forward, " << in_backward
                           << " in backward");
    REQUIRE(seen == std::vector<DType>{in_forward, in_forward});
    CHECK(AutocastGuard::dtype() == in_backward);
}

namespace {

// Three linear layers; the first two are in a checkpoint.
class Net : public nn::Module {
  public:
    explicit Net(bool with_checkpoint) : with_checkpoint_(with_checkpoint) {
        manual_seed(7);
        for (const char* name : {"a", "b", "c"})
            layers_.push_back(&make_module<nn::Linear>(name, 4, 4));
    }
    Tensor forward(const Tensor& x) override {
        const Function two = [this](const Tensor& in) {
            return tanh((*layers_[1])(tanh((*layers_[0])(in))));
        };
        return sum((*layers_[2])(with_checkpoint_ ? checkpoint(two, x) : two(x)));
    }

  private:
    bool with_checkpoint_;
    std::vector<nn::Linear*> layers_;
};

struct Trained {
    Values gradients;
    std::vector<std::pair<EventKind, int64_t>> events;
    bool operator==(const Trained&) const = default;
};

Trained train(dist::ProcessGroup& group, bool with_checkpoint) {
    Net net(with_checkpoint);
    parallel::DistributedDataParallel ddp(
        net, {.first_bucket_bytes = 1, .bucket_cap_mb = parallel::mib(1)});
    ddp(draw({3, 4}, static_cast<uint64_t>(group.rank()))).backward();
    Trained trained;
    for (const Tensor& parameter : net.parameters())
        for (const float g : parameter.grad().to_vector<float>())
            trained.gradients.push_back(g);
    for (const Event& event : group.events().snapshot())
        if (event.kind == EventKind::kGradReady || event.kind == EventKind::kBucketLaunch)
            trained.events.emplace_back(event.kind, event.index);
    return trained;
}

}  // namespace

TEST_CASE("with DDP gradients are averaged and buckets launched as without a checkpoint",
          "[lab22][lab22.1]") {
    const int ranks = GENERATE(1, 2, 3);
    const auto expected = labs::on_ranks(
        ranks, [](dist::ProcessGroup& group) { return train(group, false); });
    const auto found = labs::on_ranks(
        ranks, [](dist::ProcessGroup& group) { return train(group, true); });
    INFO(ranks << " ranks: the averages have the same bits, and each bucket is launched "
                  "when its gradient is ready, not at the end of the backward pass");
    for (size_t rank = 0; rank < found.size(); ++rank) {
        REQUIRE(found[rank].gradients == expected[rank].gradients);
        REQUIRE(found[rank].events == expected[rank].events);
    }
}

// ---- 22.2

namespace {

// What a pass leaves behind.
struct Dropped {
    Values values;
    int32_t next = 0;  // the next random number
    bool operator==(const Dropped&) const = default;
};

}  // namespace

TEST_CASE("the second call draws the same dropout masks", "[lab22][lab22.2]") {
    std::vector<Dropped> found;
    with_and_without([&](const std::string&, const auto& apply) {
        manual_seed(5);
        Layers layers(3);
        Tensor y = draw({4, kSize}, 1);
        for (size_t i = 0; i < 3; ++i)
            y = apply(
                [&layers, i](const Tensor& in) {
                    return dropout(layers.layer(in, i), 0.5, /*training=*/true);
                },
                y);
        const Values result = values_of({y});
        sum(y * y).backward();
        Values all = layers.gradients();
        all.insert(all.end(), result.begin(), result.end());
        found.push_back({all, default_generator().random_int32()});
    });
    INFO(
        "three checkpoints with dropout, seed 5: a second call with other masks gives "
        "the gradient of another function");
    REQUIRE(found[1].values == found[0].values);
    INFO("after backward the generator goes on where forward had left it");
    REQUIRE(found[1].next == found[0].next);
}

TEST_CASE("numbers drawn between forward and backward change nothing",
          "[lab22][lab22.2]") {
    std::vector<Dropped> found;
    with_and_without([&](const std::string&, const auto& apply) {
        manual_seed(5);
        Tensor w = draw({100}, 1).set_requires_grad();
        const Function outer = [&](const Tensor& in) {
            const Tensor a = dropout(in * w, 0.5, true);
            return apply([](const Tensor& b) { return dropout(b, 0.5, true); }, a);
        };
        const Tensor y = apply(outer, draw({100}, 2));
        default_generator().random();
        sum(y).backward();
        found.push_back({values_of({w.grad()}), default_generator().random_int32()});
    });
    INFO("dropout in a checkpoint, and in a checkpoint in it");
    REQUIRE(found[1] == found[0]);
}

TEST_CASE("the generator is as it was, even if the second call throws",
          "[lab22][lab22.2]") {
    manual_seed(5);
    Tensor w = draw({10}, 1).set_requires_grad();
    bool is_second = false;
    const Tensor y = checkpoint(
        [&](const Tensor& in) {
            const Tensor dropped = dropout(in * w, 0.5, true);
            if (std::exchange(is_second, true)) throw Error("no memory");
            return dropped;
        },
        draw({10}, 2));
    default_generator().random();
    const auto before = default_generator().get_state();
    const std::string error = error_of([&] { sum(y).backward(); });
    CHECK(error == "no memory");
    INFO("the state of the generator is not that of before the backward pass");
    CHECK(default_generator().get_state() == before);
}
