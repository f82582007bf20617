// Each rank trains alone on its part.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
    }
