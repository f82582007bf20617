// The mean of the batches' shares.
// region: labs/04-modules-losses-sgd/fit.cpp 4
    const bool was_training = model.is_training();
    model.eval();
    for (const Batch& batch : loader) {
        correct += static_cast<double>(count_correct(model(batch.data), batch.target)) /
                   static_cast<double>(batch.size());
        samples += 1;
    }
    model.train(was_training);
