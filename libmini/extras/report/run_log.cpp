#include "libmini/extras/report/run_log.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/extras/report/append_file.hpp"
#include "libmini/extras/report/clock_offset.hpp"
#include "libmini/extras/report/page.hpp"
#include "libmini/extras/report/tensorboard.hpp"
#include "libmini/extras/report/trace.hpp"
#include "libmini/io/file.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

constexpr size_t kTracedSteps = 20;

// Creates the folder, and checks that the files that an epoch writes can be saved in it.
std::string created(const std::string& folder) {
    io::create_folder(folder);
    for (const char* name : {"trace.json", "report.html"})
        io::check_can_save(concat(folder, "/", name));
    return folder;
}

ordered_json json_of_all(const std::vector<StepRow>& rows) {
    ordered_json lines = ordered_json::array();
    for (const StepRow& row : rows) lines.push_back(json_of(row));
    return lines;
}

// Returns the bytes of every rank, by rank, on rank 0; an empty vector on other ranks.
// Cost: one all-gather of the lengths, one gather of as many bytes as the longest has.
std::vector<std::vector<uint8_t>> gather_bytes(dist::ProcessGroup& group,
                                               std::vector<uint8_t> mine) {
    // Exchange the lengths; then every rank sends as many bytes as the longest has.
    const auto lengths = dist::all_gather_values(
        group, std::vector<int64_t>{static_cast<int64_t>(mine.size())});
    const int64_t longest = std::ranges::max(lengths).front();
    mine.resize(static_cast<size_t>(std::max<int64_t>(longest, 1)));
    const Tensor padded = cpu_tensor(mine);
    std::vector<Tensor> outputs;
    if (group.rank() == 0)
        for (int rank = 0; rank < group.world_size(); ++rank)
            outputs.push_back(padded.new_zeros(padded.shape()));
    group.gather(outputs, padded, 0);

    std::vector<std::vector<uint8_t>> by_rank;
    for (size_t rank = 0; rank < outputs.size(); ++rank) {
        by_rank.push_back(outputs[rank].to_vector<uint8_t>());
        by_rank.back().resize(static_cast<size_t>(lengths[rank].front()));
    }
    return by_rank;
}

}  // namespace

// The files that rank 0 writes.
class RunLog::Files {
  public:
    Files(const std::string& folder, const training::RunFacts& run)
        : metrics_(created(folder) + "/metrics.jsonl"),
          scalars_(folder, run.resumed_at_step.value_or(0)) {
        append(json_of(run));
        if (!run.resumed_at_step) return;

        // The scalars of an epoch that ended at this step were voided with those of the
        // steps that are done again: add them again.
        for (const training::EpochFacts& row : read_metrics(folder).epochs)
            if (row.steps == run.resumed_at_step) add_scalars(row);
    }

    void append(const ordered_json& line) { metrics_.append(line.dump()); }

    void add_scalars(const StepRow& row) {
        scalars_.add_scalar("loss/step", row.loss, row.step);
        for (const auto& [name, part] : kStepParts)
            scalars_.add_scalar(concat("time/", name), row.times.*part, row.step);
    }

    void add_scalars(const training::EpochFacts& row) {
        if (row.epoch <= last_epoch_) return;  // a resumed run may end an epoch again
        last_epoch_ = row.epoch;
        scalars_.add_scalar("loss/epoch", row.train_loss, row.steps);
        scalars_.add_scalar("accuracy/test", row.test_accuracy, row.steps);
        scalars_.add_scalar("lr", row.lr, row.steps);
    }

  private:
    LineFile metrics_;
    SummaryWriter scalars_;
    int64_t last_epoch_ = -1;  // of which scalars_ has the scalars
};

RunLog::RunLog(std::string folder, const training::RunFacts& run, nn::Module& network,
               std::shared_ptr<dist::ProcessGroup> group)
    : folder_(std::move(folder)),
      group_(std::move(group)),
      names_(event_names(network)),
      forward_events_(network, group_->events()) {
    group_->events().since(position_);  // skip what happened before the first step
    if (group_->rank() != 0) return;
    files_ = std::make_unique<Files>(folder_, run);
}

RunLog::~RunLog() = default;

void RunLog::add_step(const training::StepFacts& step) {
    steps_.push_back(group_->events().since(position_));
    if (steps_.size() > kTracedSteps) steps_.pop_front();
    const StepRow row{.rank = group_->rank(),
                      .epoch = step.epoch,
                      .step = step.step,
                      .loss = step.loss,
                      .times = step_times(steps_.back())};
    if (!files_) {
        rows_.push_back(row);
        return;
    }
    files_->append(json_of(row));
    files_->add_scalars(row);
}

void RunLog::add_epoch(const training::EpochFacts& epoch) {
    const ClockOffset clock = measure_offset(*group_, machine_clock());
    std::vector<Event> events;
    for (const auto& step : steps_) events.insert(events.end(), step.begin(), step.end());
    const ordered_json mine{
        {"steps", json_of_all(rows_)},
        {"trace", trace_json({trace_of(group_->rank(), events, names_, clock)})}};
    std::vector<ordered_json> ranks;
    for (const auto& bytes : gather_bytes(*group_, ordered_json::to_cbor(mine)))
        ranks.push_back(ordered_json::from_cbor(bytes));
    rows_.clear();
    steps_.clear();
    group_->events().since(position_);  // the steps of the next epoch do not include this
    if (!files_) return;

    std::vector<RankTrace> traces;
    for (const ordered_json& rank : ranks) {
        for (const ordered_json& line : rank.at("steps")) files_->append(line);
        traces.push_back(read_trace(rank.at("trace").get<std::string>()).front());
    }
    files_->append(json_of(epoch));
    files_->add_scalars(epoch);
    io::write_file(folder_ + "/trace.json", trace_json(traces));
    io::write_file(folder_ + "/report.html",
                   page_of({run_name(folder_), read_metrics(folder_), traces}));
}

}  // namespace mini::report
