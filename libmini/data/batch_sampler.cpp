#include "libmini/data/batch_sampler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libmini/core/error.hpp"

// [lab08 file]
namespace mini::data {

BatchSampler::BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size,
                           bool drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
    if (!sampler_) throw UsageError("BatchSampler: no sampler was given");
    if (batch_size < 1)
        throw UsageError("BatchSampler: batch_size is ", batch_size,
                         " but must be at least 1");
}

std::vector<std::vector<int64_t>> BatchSampler::batches() {
    const std::vector<int64_t> order = sampler_->indices();
    const int64_t n = static_cast<int64_t>(order.size());

    // [lab08.4] Split the order into batches; the last batch may be shorter.
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; begin < n;) {
        const int64_t length = std::min(batch_size_, n - begin);
        if (length == batch_size_ || !drop_last_)
            batches.emplace_back(order.begin() + begin, order.begin() + begin + length);
        begin += length;
    }
    return batches;
    // [lab08.4]
}

int64_t BatchSampler::size() {
    const int64_t n = sampler_->size();
    // [lab08.4] Count the batches without making them.
    const bool has_short_batch = n % batch_size_ != 0;
    return n / batch_size_ + (has_short_batch && !drop_last_ ? 1 : 0);
    // [lab08.4]
}

IterationBasedBatchSampler::IterationBasedBatchSampler(
    std::shared_ptr<BatchSource> source, int64_t num_iterations, int64_t start_iter)
    : source_(std::move(source)),
      num_iterations_(num_iterations),
      start_iter_(start_iter) {
    if (!source_)
        throw UsageError("IterationBasedBatchSampler: no batch sampler was given");
    if (start_iter < 0 || start_iter > num_iterations)
        throw UsageError("IterationBasedBatchSampler: start_iter is ", start_iter,
                         " but must be from 0 to num_iterations, ", num_iterations);
}

std::vector<std::vector<int64_t>> IterationBasedBatchSampler::batches() {
    // [lab08.4] Repeat the source until there are enough batches.
    std::vector<std::vector<int64_t>> batches;
    for (int64_t iteration = start_iter_; iteration < num_iterations_;) {
        source_->set_epoch(iteration);
        std::vector<std::vector<int64_t>> pass = source_->batches();
        if (pass.empty())
            throw UsageError("IterationBasedBatchSampler: no batch at iteration ",
                             iteration, " of ", num_iterations_,
                             "; is the dataset empty, or smaller than one batch "
                             "with drop_last?");

        // Take the whole pass, or only its beginning if fewer batches are needed.
        const int64_t left = num_iterations_ - iteration;
        const int64_t taken = std::min(left, static_cast<int64_t>(pass.size()));
        std::move(pass.begin(), pass.begin() + taken, std::back_inserter(batches));
        iteration += taken;
    }
    return batches;
    // [lab08.4]
}

}  // namespace mini::data
// [lab08 file]
