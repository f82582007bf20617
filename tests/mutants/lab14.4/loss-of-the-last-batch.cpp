// The loss of an epoch is that of its last batch.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss = loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
