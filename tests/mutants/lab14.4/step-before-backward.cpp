// The step comes before the backward pass, with the gradients of the batch before.
    for (const auto& [data, target] : loader) {
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        optimizer.step();
        optimizer.zero_grad();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
    }
