// The mode is not set, so an evaluation before turns dropout off.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }
