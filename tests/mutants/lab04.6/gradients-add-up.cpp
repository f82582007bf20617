// zero_grad is missing.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    for (const Batch& batch : loader) {
        
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }
