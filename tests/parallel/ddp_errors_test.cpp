#include "libmini/distributed/launch/default_group.hpp"

#include <vector>

#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DistributedDataParallel;

namespace {

// Skips its second layer if `skip` is set.
class Skipping : public nn::Module {
  public:
    Skipping() {
        register_module("used", used);
        register_module("skipped", skipped);
    }
    Tensor forward(const Tensor& x) override { return skip ? used(x) : skipped(used(x)); }

    nn::Linear used{2, 2};
    nn::Linear skipped{2, 2};
    bool skip = true;
};

}  // namespace

TEST_CASE("a bucket_cap_mb of less than one byte or NaN is rejected") {
    const double cap = GENERATE(0.0, -1.0, 0.5 / (1 << 20), std::nan(""));
    const auto messages = on_ranks(1, [&](dist::ProcessGroup&) {
        nn::Linear module(1, 1);
        return message_of(
            [&] { DistributedDataParallel ddp(module, {.bucket_cap_mb = cap}); });
    });
    CHECK(messages[0].find("it must be at least one byte") != std::string::npos);
}

TEST_CASE("a module without trainable parameters is rejected") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup&) {
        nn::Linear module(1, 1);
        for (Tensor& parameter : std::vector<Tensor>(module.parameters()))
            parameter.set_requires_grad(false);
        return message_of([&] { DistributedDataParallel ddp(module); });
    });
    CHECK(messages[0].find("no parameter of the module requires grad") !=
          std::string::npos);
}

TEST_CASE(
    "unused parameters are named in the errors of backward and of the next forward") {
    struct Messages {
        std::string backward;
        std::string forward;
    };
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        Skipping module;
        DistributedDataParallel ddp(module);
        const Tensor loss = sum(ddp(draw({1, 2}, 1)));
        return Messages{message_of([&] { loss.backward(); }), message_of([&] {
                            ddp(draw({1, 2}, 1));
                        })};
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        const std::string where = "on rank " + std::to_string(rank);
        for (const std::string& message :
             {messages[rank].backward, messages[rank].forward}) {
            CHECK(message.find(where) != std::string::npos);
            CHECK(message.find(" skipped.weight skipped.bias") != std::string::npos);
            CHECK(message.find(" used.") == std::string::npos);
        }
    }
}

TEST_CASE("after a communication hook has failed the next forward throws an error") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        Toy module;
        DistributedDataParallel ddp(module);
        ddp.register_comm_hook([](const parallel::GradBucket&, dist::ProcessGroup&) {
            return [] { throw Error("the hook is broken"); };
        });
        const Tensor loss = sum(ddp(draw({2, 3}, 1)));
        const std::string first = message_of([&] { loss.backward(); });
        return std::pair(first, message_of([&] { ddp(draw({2, 3}, 1)); }));
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        CHECK(messages[rank].first == "the hook is broken");
        CHECK(messages[rank].second ==
              concat("DistributedDataParallel: the last backward pass did not finish its "
                     "reduction on rank ",
                     rank,
                     "; all gradients were ready, but a collective or a communication "
                     "hook failed"));
    }
}

TEST_CASE("a second gradient in one pass is rejected with the name of its parameter") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        nn::Linear module(1, 1);  // one bucket, which still needs the weight's gradient
        DistributedDataParallel ddp(module);
        const Tensor x = Tensor::ones({1, 1});
        const Tensor loss = sum(ddp(x));
        // While the hook runs, compute a second gradient of the bias, whose graph is
        // recorded outside of forward.
        const Tensor outside = sum(module.bias);
        grad_accumulator(module.bias)->add_hook([&, first = true](const Tensor&) mutable {
            if (!std::exchange(first, false)) return;
            outside.backward();
        });
        return message_of([&] { loss.backward(); });
    });
    for (const std::string& message : messages)
        CHECK(message.find("the gradient of bias came twice") != std::string::npos);
}

TEST_CASE("without a process group the error names init_process_group") {
    nn::Linear module(1, 1);
    CHECK(message_of([&] {
              DistributedDataParallel ddp(module);
          }).find("init_process_group") != std::string::npos);
}

TEST_CASE("invalid limits of buckets are rejected") {
    const std::vector<Tensor> tensors{Tensor::zeros({1})};
    CHECK_THROWS_AS(parallel::compute_bucket_assignment(tensors, {}), UsageError);
    CHECK_THROWS_AS(parallel::compute_bucket_assignment(tensors, {0}), UsageError);
}
