#include "libmini/training/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "libmini/core/error.hpp"
#include "libmini/optim/optimizer_state.hpp"
#include "libmini/random/random.hpp"

namespace mini::training {

namespace {

using Recipe = std::map<std::string, std::string>;

constexpr std::string_view kOption = "option.";  // the prefix of the recipe's entries

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

// Reads the entries of a checkpoint by name, other than those of the model and the
// optimizer; throws BadFile with the first fault.
class CheckpointReader {
  public:
    explicit CheckpointReader(const io::Safetensors& file) : texts_(file.metadata) {
        for (const auto& [name, tensor] : file.tensors)
            if (!name.starts_with("model.") && !name.starts_with("optimizer."))
                unread_[name] = tensor;
    }

    // Returns the metadata entry `name` as an integer, which must be at least `minimum`.
    int64_t count(const std::string& name, int64_t minimum) const {
        const std::string& digits = text(name);
        const double value = number(name, digits);
        if (!(value >= static_cast<double>(minimum) && value <= 0x1p53 &&
              value == std::floor(value)))
            throw BadFile(name, ": ", digits, " is invalid");
        return static_cast<int64_t>(value);
    }

    // Returns the numbers in the metadata entry `name`, which are separated by spaces; -1
    // allows any number of entries.
    std::vector<double> numbers(const std::string& name, int64_t entries) const {
        std::vector<double> result;
        std::istringstream stream(text(name));
        for (std::string word; stream >> word;) result.push_back(number(name, word));
        if (entries != -1 && std::ssize(result) != entries)
            throw BadFile(name, " has ", result.size(), " entries, not ", entries);
        return result;
    }

    bool has_tensor(const std::string& name) const { return unread_.contains(name); }

    // Returns the values of a tensor of two dimensions, row by row; a size of -1 in `shape`
    // allows any size.
    template <typename T>
    std::vector<std::vector<T>> rows(const std::string& name, const Shape& shape) {
        const Tensor found = tensor(name, dtype_of<T>(), shape);
        const std::vector<T> all = found.to_vector<T>();
        const auto width = static_cast<ptrdiff_t>(found.shape()[1]);
        std::vector<std::vector<T>> result;
        for (auto row = all.begin(); row != all.end(); row += width)
            result.emplace_back(row, row + width);
        return result;
    }

    // Rejects a tensor that was not read.
    void finish() const {
        if (!unread_.empty()) throw BadFile("unexpected: ", unread_.begin()->first);
    }

  private:
    const std::string& text(const std::string& name) const {
        const auto found = texts_.find(name);
        if (found == texts_.end()) throw BadFile("missing: ", name);
        return found->second;
    }

    static double number(const std::string& name, const std::string& text) {
        try {
            return optim::exact_number(text);
        } catch (const BadFile& error) {
            throw BadFile(name, ": ", error.what());
        }
    }

    Tensor tensor(const std::string& name, DType dtype, const Shape& shape) {
        const auto entry = unread_.extract(name);
        if (entry.empty()) throw BadFile("missing: ", name);
        const Tensor& found = entry.mapped();
        const bool fits = std::ranges::equal(
            found.shape(), shape,
            [](int64_t is, int64_t wanted) { return wanted == -1 || is == wanted; });
        if (!fits || found.dtype() != dtype)
            throw BadFile(name, " is ", found.dtype(), " ", found.shape(), ", not ",
                          dtype, " ", shape);
        return found;
    }

    const std::map<std::string, std::string>& texts_;
    std::map<std::string, Tensor> unread_;
};

}  // namespace

void add_run_state(const RunState& state, io::Safetensors& file) {
    file.metadata["step"] = std::to_string(state.position.step);
    file.metadata["epoch"] = std::to_string(state.position.epoch);
    file.metadata["position"] = std::to_string(state.position.step_in_epoch);
    file.metadata["world_size"] = std::to_string(state.world_size);
    for (const auto& [name, value] : state.recipe)
        file.metadata[concat(kOption, name)] = value;
    optim::write_state({.tensors = {}, .numbers = state.scheduler}, "scheduler.", file);
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
    for (const auto& [name, value] : file.metadata)
        if (name.starts_with(kOption)) state.recipe[name.substr(kOption.size())] = value;
    state.scheduler = optim::read_state(file, "scheduler.").numbers;
    for_each_list(state.results, [&](const std::string& name, auto& numbers) {
        const bool each_epoch = name != "results.step_loss";
        numbers = reader.numbers(name, each_epoch ? state.position.epoch : -1);
    });

    // Optional entries: DDP's gradient order, and the state in the middle of an epoch.
    const int64_t ranks = state.world_size;
    const auto bytes = static_cast<int64_t>(default_generator().get_state().size());
    state.generators = reader.rows<uint8_t>("generators", {ranks, bytes});
    if (reader.has_tensor("gradient_order"))
        state.gradient_order = reader.rows<int64_t>("gradient_order", {1, -1}).at(0);
    if (state.position.step_in_epoch > 0) {
        state.epoch_generators = reader.rows<uint8_t>("epoch_generators", {ranks, bytes});
        state.epoch_losses =
            reader.rows<float>("epoch_losses", {ranks, state.position.step_in_epoch});
    }
    reader.finish();
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
                  {"--optimizer", options.optimizer},
                  {"--lr", optim::exact_text(options.lr)},
                  {"--scheduler", options.scheduler},
                  {"--seed", std::to_string(options.seed)},
                  {"--no-dropout", options.dropout ? "no" : "yes"},
                  {"--order", options.order},
                  {"--partition", options.partition},
                  {"--compress", options.compress},
                  {"training images", std::to_string(training_images)}};
    if (options.optimizer == "sgd")
        recipe["--momentum"] = optim::exact_text(options.momentum);
    if (options.scheduler == "cosine") recipe["--epochs"] = std::to_string(epochs);
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

}  // namespace mini::training
