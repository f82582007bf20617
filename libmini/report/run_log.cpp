#include "libmini/report/run_log.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/io/append_file.hpp"
#include "libmini/io/tensorboard.hpp"
#include "libmini/report/gather_bytes.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

std::string created(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw BadFile(concat(folder, ": cannot create the folder: ", error.message()));
    return folder;
}

std::vector<uint8_t> packed(const std::vector<StepRow>& rows) {
    ordered_json lines = ordered_json::array();
    for (const StepRow& row : rows) lines.push_back(json_of(row));
    return ordered_json::to_cbor(lines);
}

}  // namespace

// The files that rank 0 writes.
class RunLog::Files {
  public:
    explicit Files(const std::string& folder)
        : metrics_(created(folder) + "/metrics.jsonl"), scalars_(folder) {}

    void append(const ordered_json& line) { metrics_.append(line.dump()); }

    void add_scalars(const StepRow& row) {
        scalars_.add_scalar("loss/step", row.loss, row.step);
        scalars_.add_scalar("time/data", row.times.data, row.step);
        scalars_.add_scalar("time/forward", row.times.forward, row.step);
        scalars_.add_scalar("time/backward", row.times.backward, row.step);
        scalars_.add_scalar("time/waiting", row.times.waiting, row.step);
        scalars_.add_scalar("time/optimizer", row.times.optimizer, row.step);
        scalars_.add_scalar("time/step", row.times.step, row.step);
    }

    void add_scalars(const EpochRow& row) {
        scalars_.add_scalar("loss/epoch", row.train_loss, row.steps);
        scalars_.add_scalar("accuracy/test", row.test_accuracy, row.steps);
        scalars_.add_scalar("lr", row.lr, row.steps);
    }

  private:
    io::LineFile metrics_;
    io::SummaryWriter scalars_;
};

RunLog::RunLog(std::string folder, RunFacts run,
               std::shared_ptr<dist::ProcessGroup> group)
    : folder_(std::move(folder)), group_(std::move(group)) {
    events()->since(position_);  // skip what happened before the first step
    if (group_->rank() != 0) return;
    run.world_size = group_->world_size();
    run.backend = group_->backend();
    files_ = std::make_unique<Files>(folder_);
    files_->append(json_of(run));
}

RunLog::~RunLog() = default;

void RunLog::add_step(StepRow row) {
    row.rank = group_->rank();
    row.times = step_times(events()->since(position_));
    if (!files_) {
        rows_.push_back(row);
        return;
    }
    files_->append(json_of(row));
    files_->add_scalars(row);
}

void RunLog::add_epoch(const EpochRow& row) {
    const auto all = gather_bytes(*group_, packed(rows_));
    rows_.clear();
    if (!files_) return;
    for (const std::vector<uint8_t>& bytes : all)
        for (const ordered_json& line : ordered_json::from_cbor(bytes))
            files_->append(line);
    files_->append(json_of(row));
    files_->add_scalars(row);
}

}  // namespace mini::report
