// The gradients are set to zero between the backward pass and the step.
    for (const auto& [data, target] : loader) {
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.zero_grad();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }
