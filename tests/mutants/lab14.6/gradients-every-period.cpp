// Gradients, not parameters, are averaged once a period: the replicas drift apart.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        if (++steps % period == 0)
            mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
