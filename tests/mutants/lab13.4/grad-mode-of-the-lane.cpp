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
