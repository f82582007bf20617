#include "mnist_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/training/digests.hpp"

namespace mini::training {

namespace {

std::string method(const Options& options) {
    if (options.sync == "none") return "no synchronisation";
    if (options.sync == "average") return "gradient averaging";
    if (options.sync == "flat") return "flat gradient averaging";
    if (options.sync == "overlap") return "gradient averaging during backward";
    return "bucketed DDP";
}

std::string device_line(const JobFacts& facts, const Results& results) {
    if (facts.world_size == 1) return fmt::format("  device     {}\n", facts.device);
    return fmt::format("  devices    {}; rank 0's is {}\n",
                       fmt::join(results.devices, ", "), facts.device);
}

std::string bucket_line(const Results& results) {
    std::vector<std::string> sizes;
    for (const int64_t bytes : results.bucket_bytes)
        sizes.push_back(fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024.0));
    return fmt::format("  buckets    {} of {}\n", sizes.size(), fmt::join(sizes, ", "));
}

std::string time_line(const TrainingStatistics& mean) {
    return fmt::format(
        "  a step     forward {:.2f} ms, backward {:.2f} ms, waiting {:.2f} ms; {:.0f} % "
        "of "
        "{:.2f} ms of\n             all-reduce hidden behind backward\n",
        1e3 * mean.forward, 1e3 * mean.backward, 1e3 * mean.waiting, 100.0 * mean.hidden,
        1e3 * mean.communication);
}

nlohmann::ordered_json statistics_json(const TrainingStatistics& mean) {
    nlohmann::ordered_json gradients = nlohmann::ordered_json::array();
    for (const GradientTime& gradient : mean.gradients)
        gradients.push_back({{"bytes", gradient.bytes}, {"ready_s", gradient.ready}});
    nlohmann::ordered_json buckets = nlohmann::ordered_json::array();
    for (const BucketTime& bucket : mean.buckets)
        buckets.push_back({{"bytes", bucket.bytes},
                           {"ready_s", bucket.ready},
                           {"begin_s", bucket.begin},
                           {"end_s", bucket.end}});
    return {{"iterations", mean.iterations},
            {"forward_s", mean.forward},
            {"backward_s", mean.backward},
            {"communication_s", mean.communication},
            {"waiting_s", mean.waiting},
            {"hidden", mean.hidden},
            {"sent_bytes", mean.sent_bytes},
            {"gradients", gradients},
            {"buckets", buckets},
            {"compute_s", mean.compute}};
}

std::string replica_line(const Results& results) {
    const auto& digests = results.parameters_sha256;
    if (!all_equal(digests))
        return "  replicas   differ between ranks: they were not synchronised\n";
    return fmt::format("  replicas   bitwise identical on all {} (sha256 {}...)\n",
                       digests.size() == 1 ? std::string("ranks")
                                           : fmt::format("{} ranks", digests.size()),
                       digests.front().substr(0, 12));
}

}  // namespace

std::string resume_line(const std::string& path, int64_t step) {
    return fmt::format("resumed from {} at step {}\n", path, with_commas(step));
}

std::string epoch_line(const Results& results) {
    return fmt::format("epoch {:>2}   loss {:.4f}   test accuracy {:.4f}   {:.1f} s\n",
                       results.train_loss.size(), results.train_loss.back(),
                       results.test_accuracy.back(), results.seconds_per_epoch.back());
}

std::string summary(const Options& options, const JobFacts& facts,
                    const Results& results) {
    double seconds = 0.0;
    for (const double epoch : results.seconds_per_epoch) seconds += epoch;
    std::string text = fmt::format(
        "\nTrained the tutorial's ConvNet ({} parameters) by {} on {} {}, backend {}.\n",
        with_commas(facts.parameter_count), method(options), facts.world_size,
        facts.world_size == 1 ? "rank" : "ranks", facts.backend);
    text += fmt::format("  data       {}\n", facts.data_description);
    if (facts.device != "cpu") text += device_line(facts, results);
    text += fmt::format("  accuracy   {:.4f} on the test images after {} {}\n",
                        results.test_accuracy.back(), results.test_accuracy.size(),
                        results.test_accuracy.size() == 1 ? "epoch" : "epochs");
    text += fmt::format("  speed      {} images a second, {:.1f} s in all\n",
                        with_commas(static_cast<int64_t>(results.samples_per_second)),
                        seconds);
    if (!results.bucket_bytes.empty() && facts.world_size > 1)
        text += bucket_line(results);
    if (results.statistics.communication > 0 && facts.world_size > 1)
        text += time_line(results.statistics);
    if (facts.world_size > 1) text += replica_line(results);
    if (!options.checkpoint.empty())
        text += fmt::format("  kept       checkpoints in {}\n", options.checkpoint);
    if (!options.save.empty()) text += fmt::format("  saved      {}\n", options.save);
    return text;
}

std::string json_line(const Options& options, const JobFacts& facts,
                      const Results& results) {
    nlohmann::ordered_json json;
    json["world_size"] = facts.world_size;
    json["backend"] = facts.backend;
    json["sync"] = options.sync;
    json["optimizer"] = options.optimizer;
    json["zero"] = options.zero;
    json["scheduler"] = options.scheduler;
    json["device"] = options.device;
    json["devices"] = results.devices;
    json["device_description"] = facts.device;
    json["dataset"] = facts.dataset;
    json["epochs"] = results.train_loss.size();
    json["resumed_at_step"] = nullptr;
    if (results.resumed_at_step) json["resumed_at_step"] = *results.resumed_at_step;
    json["train_loss"] = results.train_loss;
    json["step_loss"] = results.step_loss;
    json["lr"] = results.lr;
    json["test_accuracy"] = results.test_accuracy;
    json["seconds_per_epoch"] = results.seconds_per_epoch;
    json["samples_per_second"] = results.samples_per_second;
    json["parameters_sha256"] = results.parameters_sha256;
    json["bucket_cap_mb"] = options.bucket_cap_mb;
    json["bucket_bytes"] = results.bucket_bytes;
    json["hidden_communication"] = results.statistics.hidden;
    json["statistics"] = statistics_json(results.statistics);
    return json.dump() + "\n";
}

}  // namespace mini::training
