// The output of train_mnist: lines during training, and at the end a summary or JSON.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/training/options.hpp"
#include "libmini/training/run_progress.hpp"

namespace mini::training {

/// Facts about the job for the report.
struct JobFacts {
    int world_size = 1;
    std::string backend;
    std::string device;   // of rank 0: "cuda:0 (simulated device)"
    std::string dataset;  // "mnist" or "digits"
    std::string data_description;
    int64_t parameter_count = 0;
};

/// Returns one line with the checkpoint and step from which a run resumes.
std::string resume_line(const std::string& path, int64_t step);

/// Returns one line about the epoch that has just ended.
std::string epoch_line(const Results& results);

/// Returns a summary of the whole job in a few lines.
std::string summary(const Options& options, const JobFacts& facts,
                    const Results& results);

/// Returns the whole job as one JSON object on one line.
std::string json_line(const Options& options, const JobFacts& facts,
                      const Results& results);

}  // namespace mini::training
