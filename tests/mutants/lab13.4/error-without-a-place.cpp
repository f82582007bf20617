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
