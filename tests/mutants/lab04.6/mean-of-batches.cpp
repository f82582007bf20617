// The mean over batches: the last, smaller batch counts too much.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += loss.item();
        samples += 1;
    }
