#include "libmini/extras/report/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

constexpr int kSchema = 1;

// Returns the value as a number, true or false if it is one, otherwise as a string.
ordered_json typed(const std::string& value) {
    const auto json = ordered_json::parse(value, nullptr, /*allow_exceptions=*/false);
    return json.is_number() || json.is_boolean() ? json : ordered_json(value);
}

std::string text_of(const ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// JSON has neither NaN nor infinity.
double number(const ordered_json& line, const std::string& name) {
    const ordered_json& value = line.at(name);
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                           : value.get<double>();
}

training::RunFacts run_facts(const ordered_json& line) {
    training::RunFacts run{.program = line.at("program"),
                           .options = {},
                           .world_size = line.at("world_size"),
                           .backend = line.at("backend")};
    for (const auto& [name, value] : line.at("options").items())
        run.options.emplace_back(name, text_of(value));
    if (!line.at("resumed_at_step").is_null())
        run.resumed_at_step = line.at("resumed_at_step").get<int64_t>();
    return run;
}

StepRow step_row(const ordered_json& line) {
    StepRow row{.rank = line.at("rank"),
                .epoch = line.at("epoch"),
                .step = line.at("step"),
                .loss = number(line, "loss")};
    for (const auto& [name, part] : kStepParts)
        row.times.*part = number(line, concat(name, "_s"));
    return row;
}

training::EpochFacts epoch_row(const ordered_json& line) {
    return {.epoch = line.at("epoch"),
            .steps = line.at("steps"),
            .train_loss = number(line, "train_loss"),
            .test_accuracy = number(line, "test_accuracy"),
            .lr = number(line, "lr"),
            .seconds = number(line, "seconds")};
}

// Collects the rows of a file; the last row of a step or an epoch counts.
class RowReading {
  public:
    void read(const ordered_json& line) {
        const auto kind = line.value("kind", "");
        if (kind == "run") begin(run_facts(line));
        if (kind == "step") {
            const StepRow row = step_row(line);
            steps_[{row.step, row.rank}] = row;
        }
        if (kind == "epoch") {
            const training::EpochFacts row = epoch_row(line);
            epochs_[row.epoch] = row;
        }
    }
    bool has_run() const { return run_.has_value(); }
    Metrics metrics() const {
        Metrics all{.run = *run_, .steps = {}, .epochs = {}};
        for (const auto& [key, row] : steps_) all.steps.push_back(row);
        for (const auto& [key, row] : epochs_) all.epochs.push_back(row);
        return all;
    }

  private:
    // Forgets what the new process does again.
    void begin(const training::RunFacts& run) {
        const int64_t first = run.resumed_at_step.value_or(0);
        std::erase_if(steps_,
                      [&](const auto& step) { return step.second.step >= first; });
        std::erase_if(epochs_,
                      [&](const auto& epoch) { return epoch.second.steps > first; });
        run_ = run;
    }

    std::optional<training::RunFacts> run_;
    std::map<std::pair<int64_t, int>, StepRow> steps_;  // by step and rank
    std::map<int64_t, training::EpochFacts> epochs_;
};

}  // namespace

StepTimes step_times(const std::vector<Event>& events) {
    std::map<std::string_view, int64_t> begins, sums;  // in nanoseconds, by name
    int64_t backward_end = 0;
    for (const Event& event : events) {
        const std::string_view name = event.name;
        if (event.kind == EventKind::kBackwardEnd) backward_end = event.nanoseconds;
        if (event.kind == EventKind::kSpanBegin) begins[name] = event.nanoseconds;
        if (event.kind != EventKind::kSpanEnd || !begins.contains(name)) continue;
        const int64_t begin = begins[name];
        sums[name] += event.nanoseconds - begin;
        if (name == "backward" && backward_end > begin)
            sums["waiting"] += event.nanoseconds - backward_end;
    }
    sums["backward"] -= sums["waiting"];
    StepTimes times;
    for (const auto& [name, part] : kStepParts)
        times.*part = static_cast<double>(sums[name]) / 1e9;
    return times;
}

ordered_json json_of(const training::RunFacts& run) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    ordered_json options = ordered_json::object();
    for (const auto& [name, value] : run.options) options[name] = typed(value);
    ordered_json line{{"kind", "run"},
                      {"schema", kSchema},
                      {"program", run.program},
                      {"time", std::chrono::duration<double>(now).count()},
                      {"world_size", run.world_size},
                      {"backend", run.backend},
                      {"resumed_at_step", nullptr},
                      {"options", options}};
    if (run.resumed_at_step) line["resumed_at_step"] = *run.resumed_at_step;
    return line;
}

ordered_json json_of(const StepRow& row) {
    ordered_json line{{"kind", "step"},
                      {"rank", row.rank},
                      {"epoch", row.epoch},
                      {"step", row.step},
                      {"loss", row.loss}};
    for (const auto& [name, part] : kStepParts)
        line[concat(name, "_s")] = row.times.*part;
    return line;
}

ordered_json json_of(const training::EpochFacts& row) {
    return {{"kind", "epoch"},
            {"epoch", row.epoch},
            {"steps", row.steps},
            {"train_loss", row.train_loss},
            {"test_accuracy", row.test_accuracy},
            {"lr", row.lr},
            {"seconds", row.seconds}};
}

Metrics read_metrics(const std::string& folder) {
    const std::string path = folder + "/metrics.jsonl";
    std::ifstream file(path);
    if (!file) throw BadFile(path, ": cannot open; it is written with --logdir");
    RowReading reading;
    std::string text;
    for (int64_t number = 1; std::getline(file, text); ++number) {
        const auto line = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
        if (!line.is_object()) continue;  // cut off
        try {
            reading.read(line);
        } catch (const ordered_json::exception& error) {
            throw BadFile(path, ", line ", number, ": ", error.what());
        }
    }
    if (!reading.has_run()) throw BadFile(path, ": no line of kind \"run\"");
    return reading.metrics();
}

}  // namespace mini::report
