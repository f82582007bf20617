// train_mnist: the main training program of the course. Trains the tutorial's ConvNet on
// MNIST, on one rank or on all ranks that minirun starts; each rank trains on its own
// part of every batch.
//
//     train_mnist --epochs 1
//     minirun -n 2 train_mnist --sync ddp --bucket-cap-mb 0.05
//     minirun -n 2 train_mnist --device cuda
//     minirun -n 2 --max-restarts 3 train_mnist --checkpoint run --every 100
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "mnist_report.hpp"

#include "libmini/core/parallel.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/kernels/registry.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/rank_device.hpp"
#include "libmini/training/trainer.hpp"

namespace {

using namespace mini::training;

int64_t parameter_count(const mini::nn::Module& model) {
    int64_t count = 0;
    for (const mini::Tensor& parameter : model.parameters()) count += parameter.numel();
    return count;
}

std::chrono::milliseconds timeout_of(const Options& options) {
    return std::chrono::milliseconds(static_cast<int64_t>(1e3 * options.timeout));
}

// Runs the job of one rank, after the rank has joined the group.
void run_rank(const Options& options, mini::Device device,
              const std::shared_ptr<mini::dist::ProcessGroup>& group) {
    const bool is_rank_0 = group->rank() == 0;
    mini::manual_seed(options.seed);
    if (options.rounding == "separate")
        mini::default_generator().set_rounding(mini::Rounding::kSeparate);

    mini::data::DataChoice choice;
    JobData data;
    on_all_ranks(*group, [&] {
        choice = mini::data::find_data(options.data);
        if (is_rank_0 && !options.json)
            std::cout << "data: " << choice.description << std::endl;
        data = load_data(choice);
    });

    Trainer trainer(options, data, group, device);
    const std::optional<std::string> resumed = trainer.resume();
    if (resumed && is_rank_0 && !options.json)
        std::cout << resume_line(*resumed, trainer.position().step) << std::flush;
    const Results results = trainer.run([&](const Results& so_far) {
        if (is_rank_0 && !options.json) std::cout << epoch_line(so_far) << std::flush;
    });
    if (!is_rank_0) return;
    if (!options.save.empty())
        mini::io::save_safetensors(options.save, trainer.model().state_dict());
    const JobFacts facts{.world_size = group->world_size(),
                         .backend = group->backend(),
                         .device = describe_device(device),
                         .dataset = choice.name,
                         .data_description = choice.description,
                         .parameter_count = parameter_count(trainer.model())};
    std::cout << (options.json ? json_line(options, facts, results)
                               : summary(options, facts, results))
              << std::flush;
}

void train(const Options& options) {
    mini::set_num_threads(options.threads);
    if (options.backend == "threads") {
        check_batch_size(options.batch_size, options.ranks);
        mini::dist::run_threads(
            options.ranks,
            [&](mini::dist::ProcessGroup&) {
                const auto group = mini::dist::default_group();
                run_rank(options, device_of_rank(options.device, group->rank()), group);
            },
            {.timeout = timeout_of(options)});
        return;
    }

    // Without a launcher, this process is the only rank.
    mini::dist::InitOptions init{
        .backend = options.backend, .timeout = timeout_of(options), .link = options.link};
    if (options.backend != "mpi" && !launcher()) {
        init.init_method = "tcp://127.0.0.1:0";
        init.rank = 0;
        init.world_size = 1;
    }
    // If MPI sets no environment variables, the rank is known only after the group
    // exists.
    const auto device = launched_device(options.device);
    const auto group = mini::dist::init_process_group(init);
    check_batch_size(options.batch_size, group->world_size());
    run_rank(options, device ? *device : device_of_rank(options.device, group->rank()),
             group);
    mini::dist::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
    return run("train_mnist", [&] {
        const auto options = parse_options(argc, argv);
        if (!options) return;
        mini::extras::use_all();
        if (options->plain) {
            mini::kernels::faster_kernels() = {};
            mini::dist::shared_all_reduce() = {};
        }
        train(*options);
    });
}
