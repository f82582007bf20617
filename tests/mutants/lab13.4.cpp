// --- all-on-one-lane
// All modules run on the first lane.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[0]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- error-without-a-place
// The error does not say which module failed.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        jobs[i].get();

// --- errors-ignored
// Errors are ignored.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();

// --- first-error-at-once
// The first error is thrown while other modules run.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- first-module-for-all
// The first module computes all chunks.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[0])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- grad-mode-forgotten
// Every lane records a graph, whatever the caller wants.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- grad-mode-of-the-lane
// The grad mode is read on the lane.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!mini::is_grad_enabled()) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- grad-mode-stays-off
// Once off, recording stays off on the lane.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            static thread_local std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- index-by-reference
// The job reads the loop variable when the loop has gone on.
    std::vector<std::future<void>> jobs;
    size_t k = 0;
    for (k = 0; k < chunks.size(); ++k)
        jobs.push_back(lanes[k]->post([&, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs.at(k) = (*modules.at(k))(chunks.at(k));
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- last-error
// The error of the last module that failed is thrown.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = jobs.size(); i-- > 0;)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());

// --- one-after-the-other
// Each module starts when the one before it has ended.
    for (size_t i = 0; i < chunks.size(); ++i) {
        std::future<void> job =
            lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
                std::optional<mini::NoGradGuard> no_grad;
                if (!enabled) no_grad.emplace();
                outputs[i] = (*modules[i])(chunks[i]);
            });
        mini::parallel::finish(job, i, lanes[i]->device());
    }
