// Only rank 0 averages, and waits for the others.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        if (group.rank() == 0)
            mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
