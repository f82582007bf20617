// --- counts-passes
// The number of the pass is set, so a resumed job has another order.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    for (int64_t iteration = start_iter_; iteration < num_iterations_;) {
        source_->set_epoch((iteration - start_iter_) / source_->size());
        std::vector<std::vector<int64_t>> pass = source_->batches();
        check_not_empty(pass, iteration, num_iterations_);
        const int64_t left = num_iterations_ - iteration;
        const int64_t taken = std::min(left, static_cast<int64_t>(pass.size()));
        std::move(pass.begin(), pass.begin() + taken, std::back_inserter(batches));
        iteration += taken;
    }
    return batches;

// --- empty-batch-at-the-end
// A number of samples that is a multiple of batch_size gives an empty batch at the end.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches(1);
    for (int64_t i = 0; i < n; ++i) {
        batches.back().push_back(order[static_cast<size_t>(i)]);
        if (static_cast<int64_t>(batches.back().size()) == batch_size_)
            batches.emplace_back();
    }
    if (drop_last_) batches.pop_back();
    return batches;

// --- full-last-batch-dropped
// drop_last drops the last batch, full or not.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; begin < n;) {
        const int64_t length = std::min(batch_size_, n - begin);
        batches.emplace_back(order.begin() + begin, order.begin() + begin + length);
        begin += length;
    }
    if (drop_last_ && !batches.empty()) batches.pop_back();
    return batches;

// --- last-pass-whole
// The last pass is taken whole, and there are too many batches.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    for (int64_t iteration = start_iter_; iteration < num_iterations_;) {
        source_->set_epoch(iteration);
        std::vector<std::vector<int64_t>> pass = source_->batches();
        check_not_empty(pass, iteration, num_iterations_);
        const int64_t left = num_iterations_ - iteration;
        const int64_t taken = std::min(left + 100, static_cast<int64_t>(pass.size()));
        std::move(pass.begin(), pass.begin() + taken, std::back_inserter(batches));
        iteration += taken;
    }
    return batches;

// --- one-pass-for-all
// The source is read once and its batches repeated, so all passes are alike.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    source_->set_epoch(start_iter_);
    const std::vector<std::vector<int64_t>> pass = source_->batches();
    check_not_empty(pass, start_iter_, num_iterations_);
    for (int64_t iteration = 0; iteration < num_iterations_ - start_iter_; ++iteration)
        batches.push_back(pass[static_cast<size_t>(iteration) % pass.size()]);
    return batches;

// --- same-epoch-each-pass
// set_epoch gets 0 in each pass, so every pass has the same order.
// region: libmini/data/batch_sampler.cpp 3
    std::vector<std::vector<int64_t>> batches;
    for (int64_t iteration = start_iter_; iteration < num_iterations_;) {
        source_->set_epoch(0);
        std::vector<std::vector<int64_t>> pass = source_->batches();
        check_not_empty(pass, iteration, num_iterations_);
        const int64_t left = num_iterations_ - iteration;
        const int64_t taken = std::min(left, static_cast<int64_t>(pass.size()));
        std::move(pass.begin(), pass.begin() + taken, std::back_inserter(batches));
        iteration += taken;
    }
    return batches;

// --- size-draws
// size() makes the batches to count them, which draws an order.
// region: libmini/data/batch_sampler.cpp 2
    static_cast<void>(n);
    return static_cast<int64_t>(batches().size());

// --- size-of-a-multiple
// One batch is added for a remainder, even if there is none.
// region: libmini/data/batch_sampler.cpp 2
    return n / batch_size_ + (drop_last_ ? 0 : 1);

// --- size-overflows
// The quotient is rounded up by a sum, which a huge batch_size makes overflow.
// region: libmini/data/batch_sampler.cpp 2
    return drop_last_ ? n / batch_size_ : (n + batch_size_ - 1) / batch_size_;

// --- start-ignored
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

// --- tail-lost
// The last, shorter batch is always dropped.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; n - begin >= batch_size_; begin += batch_size_)
        batches.emplace_back(order.begin() + begin, order.begin() + begin + batch_size_);
    return batches;
