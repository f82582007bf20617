// The step is made with the rank's own gradients, which are averaged too late.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        mini::parallel::average_gradients(model.parameters(), group);
    }
