// fsdp_memory: the measurement of lab 21. Trains a transformer for a few steps in one of
// four ways, and counts the bytes of tensors that a rank holds, and those that it sends.
//
//     minirun -n 4 fsdp_memory --way fsdp [--no-prefetch]
//     minirun -n 2 fsdp_memory --way fsdp --batch-size 32 --link 1Gbit    with times
//
// Each rank is a process, so the counter of the allocator (tensor/buffer_cache.hpp) counts
// this rank only. Rank 0 prints one line of JSON; each list has one number per rank:
//
//     kept          bytes between two steps: parameters, gradients and Adam's state
//     peak          highest number of bytes in the last step, with activations
//     sent          bytes that the rank sends in the last step
//     resident      the peak of the process's memory (VmHWM), with the program itself
//     parameters    their bytes on one rank, if nothing is sharded
//     ms            the median time of a step of rank 0, without the first two

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/fsdp.hpp"
#include "libmini/parallel/reduce_scatter_hook.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

struct Options {
    std::string way = "fsdp";
    int64_t layers = 8;
    int64_t features = 128;
    int64_t batch_size = 1;  // sequences of a rank in a step
    int64_t steps = 4;       // DDP rebuilds its buckets before the second
    std::string link;
    bool no_prefetch = false;
};

constexpr int64_t kTokens = 16;  // of a sequence

struct Counts {
    int64_t kept = 0, peak = 0, sent = 0, resident = 0;
    std::vector<double> ms = {};  // of each step
};

int64_t allocated() { return static_cast<int64_t>(allocated_bytes()); }

// Returns VmHWM of /proc/self/status, in bytes; 0 where there is no such file.
int64_t resident() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") {
            int64_t kib = 0;
            status >> kib;
            return kib * 1024;
        }
    return 0;
}

std::unique_ptr<optim::Optimizer> make_adam(std::vector<Tensor> parameters) {
    return std::make_unique<optim::Adam>(std::move(parameters));
}

// A model and its optimizer, in one of the four ways.
struct Job {
    std::unique_ptr<nn::Module> wrapper;
    std::unique_ptr<optim::Optimizer> optimizer;
};

Job make_job(nn::GPT& model, const Options& options,
             const std::shared_ptr<dist::ProcessGroup>& group) {
    if (options.way == "fsdp") {
        std::vector<std::string> units{"wte", "wpe", "ln_f", "lm_head"};
        for (int64_t i = 0; i < options.layers; ++i) units.push_back(concat("h.", i));
        auto fsdp = std::make_unique<parallel::FullyShardedDataParallel>(
            model, units,
            parallel::FSDPOptions{.process_group = group,
                                  .prefetch = !options.no_prefetch});
        auto adam = make_adam(fsdp->shards());
        return {std::move(fsdp), std::move(adam)};
    }
    auto ddp = std::make_unique<parallel::DistributedDataParallel>(
        model, parallel::DDPOptions{.bucket_cap_mb = 1, .process_group = group});
    if (options.way == "ddp") return {std::move(ddp), make_adam(model.parameters())};
    auto zero = std::make_unique<parallel::ZeroRedundancyOptimizer>(model.parameters(),
                                                                    make_adam, group);
    if (options.way == "zero2")
        ddp->register_comm_hook(parallel::reduce_scatter_hook(*zero));
    return {std::move(ddp), std::move(zero)};
}

Counts train(nn::GPT& model, int64_t before, const Options& options,
             const std::shared_ptr<dist::ProcessGroup>& group) {
    Job job = make_job(model, options, group);
    Counts counts;
    Generator generator(static_cast<uint64_t>(group->rank()));
    for (int64_t step = 0; step < options.steps; ++step) {
        uint64_t position = 0;
        group->events().since(position);
        reset_peak_bytes();
        std::vector<int64_t> tokens;
        for (int64_t i = 0; i < options.batch_size * kTokens; ++i)
            tokens.push_back(generator.randint(0, 96));
        const auto start = std::chrono::steady_clock::now();
        job.optimizer->zero_grad();
        {
            const Tensor scores =
                (*job.wrapper)(Tensor::from(tokens, {options.batch_size, kTokens}));
            cross_entropy(view(scores, {-1, scores.size(-1)}), Tensor::from(tokens))
                .backward();
        }
        job.optimizer->step();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        if (step >= 2) counts.ms.push_back(took.count());
        counts.kept = allocated() - before;
        counts.peak = static_cast<int64_t>(max_allocated_bytes()) - before;
        counts.sent = 0;
        for (const Event& event : group->events().since(position))
            if (event.kind == EventKind::kCollectiveEnd) counts.sent += event.bytes;
    }
    counts.resident = resident();
    return counts;
}

void run(const Options& options) {
    dist::InitOptions init{.link = options.link};
    if (!training::launcher()) {
        init.init_method = "tcp://127.0.0.1:0";
        init.rank = 0;
        init.world_size = 1;
    }
    const auto group = dist::init_process_group(init);
    manual_seed(1);
    const int64_t before = allocated();
    nn::GPT model({.n_layer = options.layers, .n_embd = options.features});
    const int64_t parameters = allocated() - before;
    Counts counts = train(model, before, options, group);
    const auto middle = counts.ms.begin() + std::ssize(counts.ms) / 2;
    std::ranges::nth_element(counts.ms, middle);
    const auto gather = [&](int64_t number) {
        std::vector<int64_t> all;
        for (const auto& each : dist::all_gather_values(*group, std::vector{number}))
            all.push_back(each[0]);
        return all;
    };
    const nlohmann::ordered_json json = {
        {"way", options.way},          {"world_size", group->world_size()},
        {"kept", gather(counts.kept)}, {"peak", gather(counts.peak)},
        {"sent", gather(counts.sent)}, {"resident", gather(counts.resident)},
        {"parameters", parameters},    {"ms", *middle}};
    if (group->rank() == 0) std::cout << json.dump() << std::endl;
    group->shutdown();
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("fsdp_memory", [&] {
        extras::use_all();
        Options options;
        CommandLine line("Counts the bytes that a rank holds and sends, in four ways.",
                         "fsdp_memory");
        line.add("--way", options.way, "how to train")
            .one_of({"ddp", "zero1", "zero2", "fsdp"});
        training::add_count(line, "--layers", options.layers,
                            "blocks of the transformer");
        training::add_count(line, "--features", options.features,
                            "features of each token; a multiple of 4");
        training::add_count(line, "--batch-size", options.batch_size,
                            "sequences of 16 tokens of each rank");
        line.add("--steps", options.steps, "steps of Adam, at least 3").at_least(3);
        line.add("--link", options.link,
                 "emulate a slow network, like 1Gbit or 1Gbit,1ms")
            .type_name("LINK");
        line.add_flag("--no-prefetch", options.no_prefetch,
                      "gather each unit when it is needed (fsdp)");
        if (line.parse(argc, argv)) run(options);
    });
}
