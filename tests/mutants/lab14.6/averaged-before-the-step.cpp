// The mean is computed before the step, and the step leads away from it.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
        optimizer.step();
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
