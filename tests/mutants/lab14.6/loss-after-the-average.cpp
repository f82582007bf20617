// The loss is computed again after the step, from the model that has just learnt.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        loss.backward();
        optimizer.step();
        epoch_loss += mini::cross_entropy(model(data), target).item();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
