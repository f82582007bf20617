// What train_mnist says: to people as it goes, at the end as a summary or as JSON.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/training/options.hpp"
#include "libmini/training/results.hpp"

namespace mini::training {

/// What the job ran on, for the report.
struct JobFacts {
    int world_size = 1;
    std::string backend;
    std::string device;   // of rank 0: "cuda:0 (simulated device)"
    std::string dataset;  // "mnist" or "digits"
    std::string data_description;
    int64_t parameter_count = 0;
};

/// One line on where a run goes on.
std::string resume_line(const std::string& path, int64_t step);

/// One line on the epoch just ended.
std::string epoch_line(const Results& results);

/// The whole job in a few lines, and what to try next.
std::string summary(const Options& options, const JobFacts& facts,
                    const Results& results);

/// The whole job as one JSON object on one line.
std::string json_line(const Options& options, const JobFacts& facts,
                      const Results& results);

}  // namespace mini::training
