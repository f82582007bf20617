// The gradients are averaged as well: all of the communication, and more.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
