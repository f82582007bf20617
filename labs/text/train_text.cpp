// train_text: trains a small transformer by DistributedDataParallel, or fully sharded, on the
// pages of this course, and lets it write.
//
//     minirun -n 2 train_text                 in the repository's root; about a minute
//     minirun -n 2 train_text --fsdp
//     minirun -n 2 train_text --steps 50 --json
//
// Each step has the same sequences for any number of ranks: every rank draws the positions
// of the whole batch and takes its own part. So the losses of 1, 2, 3 and 4 ranks differ
// only by the rounding of the gradients' sums.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "labs/text/text.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/fsdp.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

constexpr int64_t kValidationWindows = 48;
constexpr double kTemperature = 0.8;

struct Options {
    std::string text = "labs";
    int64_t steps = 800;
    int64_t batch_size = 24;  // sequences per step, of all ranks together
    int64_t every = 100;
    int64_t sample = 400;
    double lr = 4e-3;
    uint64_t seed = 1;
    bool fsdp = false;
    bool json = false;
};

// Returns this rank's part of `all`: equal parts, in the order of the ranks.
std::vector<int64_t> part_of(const std::vector<int64_t>& all, dist::ProcessGroup& group) {
    const int64_t count = std::ssize(all) / group.world_size();
    const auto begin = all.begin() + count * group.rank();
    return {begin, begin + count};
}

// Returns the mean of the ranks' losses.
double mean_of(const Tensor& loss, dist::ProcessGroup& group) {
    const Tensor mean = loss.detach().to(Device::cpu());
    group.all_reduce(mean, dist::ReduceOp::kAvg);
    return mean.item();
}

// Returns the loss on windows of T tokens at equal distances in the validation part.
double validate(nn::Module& model, const text::Tokens& tokens, int64_t T,
                dist::ProcessGroup& group) {
    const NoGradGuard no_grad;
    std::vector<int64_t> begins;
    for (int64_t i = 0; i < kValidationWindows; ++i)
        begins.push_back((std::ssize(tokens) - T - 1) * i / kValidationWindows);
    const data::Batch batch = text::windows(tokens, part_of(begins, group), T);
    return mean_of(text::loss_of(model, batch), group);
}

void train(const Options& options, dist::ProcessGroup& group) {
    training::check_batch_size(options.batch_size, group.world_size());
    training::check_batch_size(kValidationWindows, group.world_size());
    manual_seed(options.seed);
    nn::GPT model({.vocab_size = text::kVocabSize});
    const int64_t T = model.config().block_size;
    const text::Split pages = text::read_pages(options.text, 100 * T);
    std::unique_ptr<nn::Module> wrapper;
    parallel::FullyShardedDataParallel* fsdp = nullptr;
    if (options.fsdp) {
        // Each block is a unit; the tables, ln_f and lm_head are the module's own.
        std::vector<std::string> blocks;
        for (int64_t i = 0; i < model.config().n_layer; ++i)
            blocks.push_back(concat("h.", i));
        auto sharded =
            std::make_unique<parallel::FullyShardedDataParallel>(model, blocks);
        fsdp = sharded.get();
        wrapper = std::move(sharded);
    } else {
        wrapper = std::make_unique<parallel::DistributedDataParallel>(model);
    }
    optim::AdamW optimizer(fsdp ? fsdp->shards() : model.parameters(),
                           {.lr = options.lr});

    Generator generator(options.seed);
    std::vector<double> losses, validation;
    const bool prints = group.rank() == 0 && !options.json;
    const auto start = std::chrono::steady_clock::now();
    for (int64_t step = 1; step <= options.steps; ++step) {
        std::vector<int64_t> begins;
        for (int64_t i = 0; i < options.batch_size; ++i)
            begins.push_back(generator.randint(0, std::ssize(pages.train) - T));
        const data::Batch batch = text::windows(pages.train, part_of(begins, group), T);
        const Tensor loss = text::loss_of(*wrapper, batch);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();

        if (step != 1 && step % options.every != 0 && step != options.steps) continue;
        losses.push_back(mean_of(loss, group));
        validation.push_back(validate(*wrapper, pages.validation, T, group));
        const std::chrono::duration<double> time =
            std::chrono::steady_clock::now() - start;
        if (prints)
            std::cout << fmt::format(
                             "step {:>5}   loss {:.3f}   validation {:.3f}   {:.1f} s",
                             step, losses.back(), validation.back(), time.count())
                      << std::endl;
    }

    // Every rank puts the sharded parameters together again.
    nn::GPT whole(model.config());
    whole.load_state_dict(fsdp ? fsdp->full_state_dict(group.rank())
                               : model.state_dict());
    const auto digests = training::parameter_digests(group, whole);
    if (group.rank() != 0) return;
    const std::string sample = text::decode(text::continue_text(
        whole, text::encode("\n"), options.sample, T, kTemperature, generator));
    if (options.json) {
        const nlohmann::ordered_json json = {{"world_size", group.world_size()},
                                             {"train_loss", losses},
                                             {"validation_loss", validation},
                                             {"sample", sample},
                                             {"parameters_sha256", digests}};
        std::cout << json.dump() << std::endl;
        return;
    }
    std::cout << "replicas   " << training::compare(digests) << " (sha256 "
              << digests[0].substr(0, 12) << "...)\n\n"
              << sample << std::endl;
}

bool parse(int argc, char** argv, Options& options) {
    CommandLine line(
        "Trains a transformer of 216,448 parameters on the pages of this course.\n"
        "On its own it is one rank; \"minirun -n 2 train_text\" makes two.",
        "train_text");
    line.add("--text", options.text, "train on the pages DIR/*/README.md")
        .type_name("DIR");
    training::add_count(line, "--steps", options.steps, "steps of the optimizer");
    training::add_count(line, "--batch-size", options.batch_size,
                        "sequences per step, of all ranks; a multiple of the ranks");
    training::add_count(line, "--every", options.every, "steps between two lines");
    training::add_count(line, "--sample", options.sample,
                        "characters to write at the end");
    line.add_flag("--fsdp", options.fsdp, "shard everything, each block a unit");
    training::add_common(line, options.lr, options.seed, options.json);
    return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("train_text", [&] {
        extras::use_all();
        Options options;
        if (!parse(argc, argv, options)) return;
        const auto group = training::join_group();
        train(options, *group);
        dist::destroy_process_group();
    });
}
