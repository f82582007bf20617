// text_memory: the measurement of lab 22. Trains a transformer on the pages of this course,
// and counts the bytes of tensors.
//
//     text_memory --layers 8 --checkpoint 2 --dtype bfloat16     in the repository's root
//
// Prints one line of JSON:
//
//     parameters    bytes of the parameters
//     saved         bytes that forward has allocated and that are there when it ends
//     peak          highest number of bytes in a step, beyond parameters and optimizer
//     forward_s, backward_s, step_s     processor time, medians; step_s is the whole step
//     losses        of the first step, and of every tenth part of the steps
//     skipped       steps with inf or NaN, of float16

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labs/22-memory-and-precision/grad_scaler.hpp"
#include "labs/text/text.hpp"
#include "libmini/autograd/low_precision.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

struct Options {
    int64_t layers = 8;
    int64_t checkpoint = 0;
    std::string dtype = "float32";
    std::string text = "labs";
    int64_t steps = 20;
    int64_t batch_size = 24;
};

// Of the processor: other programs on the machine hardly change it.
double seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

DType dtype_named(const std::string& name) {
    if (name == "bfloat16") return DType::kBFloat16;
    return name == "float16" ? DType::kFloat16 : DType::kFloat32;
}

void run(const Options& options) {
    manual_seed(1);
    const size_t empty = allocated_bytes();
    nn::GPT model({.vocab_size = text::kVocabSize,
                   .n_layer = options.layers,
                   .n_checkpoint = options.checkpoint});
    const size_t parameters = allocated_bytes() - empty;
    optim::AdamW optimizer(model.parameters(), {.lr = 4e-3});
    const DType dtype = dtype_named(options.dtype);
    // Without float16 no gradient is too small: a factor of 1 changes nothing.
    lab22::GradScaler scaler({.init_scale = dtype == DType::kFloat16 ? 65536.0 : 1.0});
    const int64_t T = model.config().block_size;
    const text::Split pages = text::read_pages(options.text, 100 * T);

    Generator generator(1);
    std::vector<double> forward, backward, whole, losses;
    size_t saved = 0, peak = 0;
    int64_t skipped = 0;
    for (int64_t step = 1; step <= options.steps; ++step) {
        std::vector<int64_t> begins;
        for (int64_t i = 0; i < options.batch_size; ++i)
            begins.push_back(generator.randint(0, std::ssize(pages.train) - T));
        const data::Batch batch = text::windows(pages.train, begins, T);
        optimizer.zero_grad();

        const size_t before = allocated_bytes();
        reset_peak_bytes();
        const double start = seconds_now();
        Tensor loss;
        {
            const AutocastGuard guard(dtype);
            loss = text::loss_of(model, batch);
        }
        saved = allocated_bytes() - before;
        const double middle = seconds_now();
        scaler.scale(loss).backward();
        const double end = seconds_now();
        peak = max_allocated_bytes() - before;
        skipped += !scaler.step(optimizer);
        scaler.update();
        forward.push_back(middle - start);
        backward.push_back(end - middle);
        whole.push_back(seconds_now() - start);
        if (step == 1 || step % std::max<int64_t>(1, options.steps / 10) == 0)
            losses.push_back(loss.item());
    }
    const nlohmann::ordered_json json = {{"parameters", parameters},
                                         {"saved", saved},
                                         {"peak", peak},
                                         {"forward_s", median(forward)},
                                         {"backward_s", median(backward)},
                                         {"step_s", median(whole)},
                                         {"losses", losses},
                                         {"skipped", skipped}};
    std::cout << json.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("text_memory", [&] {
        Options options;
        CommandLine line("Counts the bytes of a transformer in training.", "text_memory");
        training::add_count(line, "--layers", options.layers,
                            "blocks of the transformer");
        line.add("--checkpoint", options.checkpoint,
                 "blocks in each checkpoint; 0: no checkpoints")
            .at_least(0);
        line.add("--dtype", options.dtype, "of the linear layers")
            .one_of({"float32", "bfloat16", "float16"});
        line.add("--text", options.text, "train on the pages DIR/*/README.md")
            .type_name("DIR");
        training::add_count(line, "--steps", options.steps, "steps of AdamW");
        training::add_count(line, "--batch-size", options.batch_size, "sequences a step");
        if (line.parse(argc, argv)) run(options);
    });
}
