// --- all-on-one-thread
// All modules run on the calling thread.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[0], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- error-without-a-place
// The error does not say which module failed.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        jobs[i].get();

// --- errors-ignored
// Errors are ignored.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();

// --- first-error-at-once
// The first error is thrown while other modules run.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- first-module-for-all
// The first module computes all chunks.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[0])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- grad-mode-forgotten
// Every worker records a graph, whatever the caller wants.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- grad-mode-of-the-worker
// The grad mode is read on the worker.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i] {
            std::optional<NoGradGuard> no_grad;
            if (!is_grad_enabled()) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- grad-mode-stays-off
// Once off, recording stays off on the worker.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            static thread_local std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- index-by-reference
// The job reads the loop variable when the loop has gone on.
    std::vector<std::future<void>> jobs(chunks.size());
    size_t k = 0;
    for (k = chunks.size(); k-- > 0;)
        jobs[k] = start(workers[k], [&, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs.at(k) = (*modules.at(k))(chunks.at(k));
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        finish(jobs[i], i, chunks[i].device());

// --- last-error
// The error of the last module that failed is thrown.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = jobs.size(); i-- > 0;)
        finish(jobs[i], i, chunks[i].device());

// --- one-after-the-other
// Each module starts when the one before it has ended.
    for (size_t i = 0; i < chunks.size(); ++i) {
        std::future<void> job =
            start(workers[i], [&, i, enabled = is_grad_enabled()] {
                std::optional<NoGradGuard> no_grad;
                if (!enabled) no_grad.emplace();
                outputs[i] = (*modules[i])(chunks[i]);
            });
        finish(job, i, chunks[i].device());
    }
