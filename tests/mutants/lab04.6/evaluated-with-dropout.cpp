// The model is evaluated in training mode.
// region: labs/04-modules-losses-sgd/fit.cpp 4
    for (const Batch& batch : loader) {
        correct +=
            static_cast<double>(count_correct(model(batch.data), batch.target));
        samples += static_cast<double>(batch.size());
    }
