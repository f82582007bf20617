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
