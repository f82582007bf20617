// Every lane records a graph, whatever the caller wants.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());
