// The source is read once and its batches repeated, so all passes are alike.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    source_->set_epoch(start_iter_);
    const std::vector<std::vector<int64_t>> pass = source_->batches();
    check_not_empty(pass, start_iter_, num_iterations_);
    for (int64_t iteration = 0; iteration < num_iterations_ - start_iter_; ++iteration)
        batches.push_back(pass[static_cast<size_t>(iteration) % pass.size()]);
    return batches;
