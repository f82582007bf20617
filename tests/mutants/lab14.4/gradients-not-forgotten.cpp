// Each step adds to the gradients of the steps before it.
    for (const auto& [data, target] : loader) {
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
