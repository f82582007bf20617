#include "libmini/extras/report/run_log.hpp"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/extras/report/append_file.hpp"
#include "libmini/extras/report/page.hpp"
#include "libmini/extras/report/report.hpp"
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

// Returns the offset of this rank's clock, which its host has since its last boot.
int64_t offset_of_clock(dist::ProcessGroup& group) {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
    group.barrier();
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return clock_offset(
        group, boot, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::unique_ptr<training::RunObserver> make_run_log(
    const std::string& folder, const training::RunFacts& run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group) {
    return std::make_unique<RunLog>(folder, run, network, group);
}

}  // namespace

ForwardEvents::ForwardEvents(nn::Module& network, EventLog& log) {
    const nn::NamedModules modules = network.named_modules();
    for (size_t i = 1; i < modules.size(); ++i) {  // the first one is the network
        nn::Module* const module = modules[i].second;
        const auto index = static_cast<int64_t>(i);
        const int before = module->register_forward_pre_hook(
            [&log, index](const nn::Module&, const Tensor&) {
                log.record(EventKind::kModuleBegin, index);
            });
        const int after = module->register_forward_hook(
            [&log, index](const nn::Module&, const Tensor&, const Tensor&) {
                log.record(EventKind::kModuleEnd, index);
            });
        hooks_.emplace_back(module, before);
        hooks_.emplace_back(module, after);
    }
}

ForwardEvents::~ForwardEvents() {
    for (const auto& [module, id] : hooks_) module->remove_hook(id);
}

// The files that rank 0 writes.
class RunLog::Files {
  public:
    Files(const std::string& folder, const training::RunFacts& run)
        : metrics_(created(folder) + "/metrics.jsonl"),
          scalars_(folder, run.resumed_at_step.value_or(0)) {
        metrics_.end_line();
        append(json_of(run));
        if (!run.resumed_at_step) return;

        // The scalars of an epoch that ended at this step were voided with those of the
        // steps that are done again: add them again.
        for (const training::EpochFacts& row : read_metrics(folder).epochs)
            if (row.steps == run.resumed_at_step) add_scalars(row);
    }

    void append(const ordered_json& line) { metrics_.append(line.dump() + "\n"); }

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
    AppendFile metrics_;
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
    const int64_t offset = offset_of_clock(*group_);
    std::vector<Event> events;
    for (const auto& step : steps_) events.insert(events.end(), step.begin(), step.end());
    const ordered_json mine{
        {"steps", json_of_all(rows_)},
        {"trace", trace_json({trace_of(group_->rank(), events, names_, offset)})}};
    std::vector<ordered_json> ranks;
    for (const std::string& text : dist::all_gather_texts(*group_, mine.dump()))
        if (files_) ranks.push_back(ordered_json::parse(text));
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

void use() { training::make_run_observer = make_run_log; }

}  // namespace mini::report
