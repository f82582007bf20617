// Gradients are zeroed once a period, as if they were accumulated.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        if (steps % period == 0) optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
