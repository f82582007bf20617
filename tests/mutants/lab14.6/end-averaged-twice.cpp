// After the last step the models are averaged even if they just have been.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    mini::parallel::average_parameters(model, group);
