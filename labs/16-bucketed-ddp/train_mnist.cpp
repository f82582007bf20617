// train_mnist: the job that the course works towards. One rank alone, or as many as
// minirun starts, train the tutorial's ConvNet on MNIST, each on its own part of every
// batch.
//
//     train_mnist --epochs 1
//     minirun -n 2 train_mnist --sync ddp --bucket-cap-mb 0.05
//     minirun -n 2 train_mnist --device cuda
//     minirun -n 2 --max-restarts 3 train_mnist --checkpoint run --every 100
//
// Exit codes: 0 done, 1 failed, 2 the options make no sense.

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "job.hpp"
#include "labs/program.hpp"
#include "libmini/core/log.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/random/random.hpp"
#include "libmini/random/streams.hpp"
#include "options.hpp"
#include "report.hpp"
#include "trainer.hpp"

namespace train_mnist {
namespace {

int64_t parameter_count(const mini::nn::Module& model) {
    int64_t count = 0;
    for (const mini::Tensor& parameter : model.parameters()) count += parameter.numel();
    return count;
}

void check_batch_size(const Options& options, int world_size) {
    if (options.batch_size % world_size == 0) return;
    const int64_t below = options.batch_size / world_size * world_size;
    throw mini::UsageError(mini::concat("--batch-size ", options.batch_size,
                                        " cannot be divided among ", world_size,
                                        " ranks; try ", below > 0 ? below : world_size));
}

void check_graph(const Options& options, int world_size) {
    if (options.graph && world_size > 1)
        throw mini::UsageError(
            mini::concat("--graph is for one rank, since the host moves what ranks "
                         "exchange; here are ",
                         world_size));
}

// The job of one rank, once the group is there.
void run_rank(const Options& options, mini::Device device,
              const std::shared_ptr<mini::dist::ProcessGroup>& group) {
    const bool speaks = group->rank() == 0;
    mini::manual_seed(options.seed);
    if (options.rounding == "separate")
        mini::default_generator().set_rounding(mini::Rounding::kSeparate);
    if (options.streams == "separate") mini::separate_streams(options.seed);

    mini::data::DataChoice choice;
    JobData data;
    on_all_ranks(*group, [&] {
        choice = mini::data::find_data(options.data);
        if (speaks && !options.json)
            std::cout << "data: " << choice.description << std::endl;
        data = load_data(choice);
    });

    Trainer trainer(options, data, group, device);
    const std::optional<std::string> resumed = trainer.resume();
    if (resumed && speaks && !options.json)
        std::cout << resume_line(*resumed, trainer.place().step) << std::flush;
    const Results results = trainer.run([&](const Results& so_far) {
        if (speaks && !options.json) std::cout << epoch_line(so_far) << std::flush;
    });
    if (!speaks) return;
    if (!options.save.empty())
        mini::io::save_safetensors(options.save, trainer.model().state_dict());
    const JobFacts facts{.world_size = group->world_size(),
                         .backend = group->backend(),
                         .device = program::describe_device(device),
                         .dataset = choice.name,
                         .data_description = choice.description,
                         .parameter_count = parameter_count(trainer.model())};
    std::cout << (options.json ? json_line(options, facts, results)
                               : summary(options, facts, results))
              << std::flush;
}

using program::launcher;  // minirun, torchrun, mpirun or srun

void run(const Options& options) {
    mini::set_num_threads(options.threads);
    if (options.backend == "threads") {
        check_batch_size(options, options.ranks);
        check_graph(options, options.ranks);
        mini::dist::run_threads(
            options.ranks,
            [&](mini::dist::ProcessGroup&) {
                const auto group = mini::dist::default_group();
                run_rank(options, program::device_of_rank(options.device, group->rank()),
                         group);
            },
            {.timeout = std::chrono::minutes(5)});
        return;
    }

    // Alone, without a launcher, be the only rank.
    mini::dist::InitOptions init{.backend = options.backend, .link = options.link};
    if (options.backend != "mpi" && !launcher()) {
        init.init_method = "tcp://127.0.0.1:0";
        init.rank = 0;
        init.world_size = 1;
    }
    // An MPI that sets no variables tells the rank only when there is a group.
    const auto device = program::launched_device(options.device);
    const auto group = mini::dist::init_process_group(init);
    check_batch_size(options, group->world_size());
    check_graph(options, group->world_size());
    run_rank(options,
             device ? *device : program::device_of_rank(options.device, group->rank()),
             group);
    mini::dist::destroy_process_group();
}

// Errors of usage and of data are the same on every rank: one of them says so.
bool speaks_for_all() {
    try {
        const auto variables = launcher();
        return !variables || variables->rank <= 0;
    } catch (const mini::UsageError&) {
        return true;  // what the launcher says makes no sense: let every rank say so
    }
}

}  // namespace
}  // namespace train_mnist

int main(int argc, char** argv) {
    try {
        if (const auto options = train_mnist::parse_options(argc, argv))
            train_mnist::run(*options);
        return 0;
    } catch (const mini::UsageError& error) {
        if (train_mnist::speaks_for_all())
            std::cerr << "train_mnist: " << error.what() << '\n';
        return 2;
    } catch (const train_mnist::SharedError& error) {
        if (train_mnist::speaks_for_all())
            std::cerr << "train_mnist: " << error.what() << '\n';
        return 1;
    } catch (const std::exception& error) {
        std::cerr << "train_mnist: " << error.what() << '\n';
        return 1;
    }
}
