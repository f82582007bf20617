// The iterations before start_iter are done again.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    for (int64_t iteration = 0; iteration < num_iterations_;) {
        source_->set_epoch(iteration);
        std::vector<std::vector<int64_t>> pass = source_->batches();
        check_not_empty(pass, iteration, num_iterations_);
        const int64_t left = num_iterations_ - iteration;
        const int64_t taken = std::min(left, static_cast<int64_t>(pass.size()));
        std::move(pass.begin(), pass.begin() + taken, std::back_inserter(batches));
        iteration += taken;
    }
    return batches;
