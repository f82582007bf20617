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
