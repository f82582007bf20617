// One average at the end of the epoch: the ranks train apart.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        ++steps;
    }
    static_cast<void>(period);
    if (steps > 0) mini::parallel::average_parameters(model, group);
