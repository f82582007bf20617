#include "libmini/training/checkpoint.hpp"

#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libmini/core/error.hpp"
#include "libmini/optim/optimizer_state.hpp"
#include "libmini/random/streams.hpp"
#include "libmini/training/checkpoint_reader.hpp"

namespace mini::training {

namespace {

using Recipe = std::map<std::string, std::string>;

std::string text_of(const std::vector<double>& numbers) {
    std::vector<std::string> words;
    for (const double number : numbers) words.push_back(optim::exact_text(number));
    return fmt::format("{}", fmt::join(words, " "));
}

// Calls use(name, list) for each list of results that a checkpoint stores.
template <typename SomeResults, typename Use>
void for_each_list(SomeResults& results, const Use& use) {
    use("results.train_loss", results.train_loss);
    use("results.step_loss", results.step_loss);
    use("results.test_accuracy", results.test_accuracy);
    use("results.seconds_per_epoch", results.seconds_per_epoch);
    use("results.lr", results.lr);
}

// Adds a tensor with one row per rank; adds no tensor if there are no values.
template <typename T>
void add_rows(const std::string& name, const std::vector<std::vector<T>>& rows,
              io::Safetensors& file) {
    if (rows.empty() || rows.front().empty()) return;
    std::vector<T> all;
    for (const std::vector<T>& row : rows) all.insert(all.end(), row.begin(), row.end());
    file.tensors.emplace_back(
        name, Tensor::from(all, {static_cast<int64_t>(rows.size()),
                                 static_cast<int64_t>(rows.front().size())}));
}

// Returns the default generator and the generator of each stream. Unless the streams are
// separate, all four entries are the default generator.
std::vector<Generator*> generators() {
    std::vector<Generator*> all{&default_generator()};
    for (const auto stream :
         {Stream::kInitialisation, Stream::kDataOrder, Stream::kDropout})
        all.push_back(&generator_of(stream));
    return all;
}

}  // namespace

void add_run_state(const RunState& state, io::Safetensors& file) {
    file.metadata["step"] = std::to_string(state.position.step);
    file.metadata["epoch"] = std::to_string(state.position.epoch);
    file.metadata["position"] = std::to_string(state.position.step_in_epoch);
    file.metadata["world_size"] = std::to_string(state.world_size);
    for (const auto& [name, value] : state.recipe)
        file.metadata["option." + name] = value;
    for (const auto& [name, value] : state.scheduler)
        file.metadata["scheduler." + name] = optim::exact_text(value);
    for_each_list(state.results, [&](const std::string& name, const auto& numbers) {
        file.metadata[name] = text_of(numbers);
    });
    add_rows("gradient_order", std::vector<std::vector<int64_t>>{state.gradient_order},
             file);
    add_rows("generators", state.generators, file);
    add_rows("epoch_generators", state.epoch_generators, file);
    add_rows("epoch_losses", state.epoch_losses, file);
}

RunState read_run_state(const io::Safetensors& file) {
    CheckpointReader reader(file);
    RunState state;
    state.position = {.step = reader.count("step", 0),
                      .epoch = reader.count("epoch", 0),
                      .step_in_epoch = reader.count("position", 0)};
    state.world_size = reader.count("world_size", 1);
    state.recipe = reader.texts("option.");
    state.scheduler = reader.numbers_under("scheduler.");
    for_each_list(state.results, [&](const std::string& name, auto& numbers) {
        const bool each_epoch = name != "results.step_loss";
        numbers = reader.numbers(name, each_epoch ? state.position.epoch : -1);
    });

    // Optional entries: DDP's gradient order, and the state in the middle of an epoch.
    const int64_t ranks = state.world_size;
    const auto bytes = static_cast<int64_t>(generator_states().size());
    state.generators = reader.rows<uint8_t>("generators", {ranks, bytes});
    if (reader.has_tensor("gradient_order")) {
        const auto order = reader.rows<int64_t>("gradient_order", {1, -1});
        if (!order.empty()) state.gradient_order = order.front();
    }
    if (state.position.step_in_epoch > 0) {
        state.epoch_generators = reader.rows<uint8_t>("epoch_generators", {ranks, bytes});
        state.epoch_losses =
            reader.rows<float>("epoch_losses", {ranks, state.position.step_in_epoch});
    }
    reader.finish({"model.", "optimizer."});
    return state;
}

io::NamedTensors tensors_in(const io::Safetensors& file, const std::string& prefix) {
    io::NamedTensors found;
    for (const auto& [name, tensor] : file.tensors)
        if (name.starts_with(prefix))
            found.emplace_back(name.substr(prefix.size()), tensor);
    return found;
}

Recipe recipe_of(const Options& options, int64_t training_images, int64_t epochs) {
    Recipe recipe{{"--batch-size", std::to_string(options.batch_size)},
                  {"--optimizer", to_string(options.optimizer, kOptimizers)},
                  {"--lr", optim::exact_text(options.lr)},
                  {"--scheduler", to_string(options.scheduler, kSchedules)},
                  {"--seed", std::to_string(options.seed)},
                  {"--no-dropout", options.dropout ? "no" : "yes"},
                  {"--streams", to_string(options.streams, kStreams)},
                  {"--order", to_string(options.order, kSampleOrders)},
                  {"--partition", to_string(options.partition, kPartitionings)},
                  {"--compress", to_string(options.compress, kCompressions)},
                  {"training images", std::to_string(training_images)}};
    if (options.optimizer == OptimizerKind::kSGD)
        recipe["--momentum"] = optim::exact_text(options.momentum);
    if (options.scheduler == Schedule::kCosine)
        recipe["--epochs"] = std::to_string(epochs);
    return recipe;
}

void check_recipe(const std::string& path, const Recipe& saved, const Recipe& current) {
    const auto value = [](const Recipe& recipe, const std::string& name) {
        const auto found = recipe.find(name);
        return found == recipe.end() ? std::string("nothing") : found->second;
    };
    Recipe all = current;
    all.insert(saved.begin(), saved.end());
    std::vector<std::string> differences;
    for (const auto& [name, any] : all)
        if (value(saved, name) != value(current, name))
            differences.push_back(concat(name, " was ", value(saved, name), " and is ",
                                         value(current, name)));
    if (differences.empty()) return;
    throw UsageError(fmt::format(
        "{} is of a run with other options: {}; pass its options, or --fresh to start "
        "again",
        path, fmt::join(differences, ", ")));
}

std::vector<uint8_t> generator_states() {
    std::vector<uint8_t> states;
    for (const Generator* generator : generators()) {
        const std::vector<uint8_t> state = generator->get_state();
        states.insert(states.end(), state.begin(), state.end());
    }
    return states;
}

void set_generator_states(const std::vector<uint8_t>& states) {
    const std::vector<Generator*> all = generators();
    const size_t length = states.size() / all.size();
    for (size_t i = 0; i < all.size(); ++i)
        all[i]->set_state(std::span(states).subspan(i * length, length));
}

}  // namespace mini::training
