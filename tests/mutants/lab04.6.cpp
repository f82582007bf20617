// --- always-training-afterwards
// The model is in training mode afterwards, whatever it was before.
// region: labs/04-modules-losses-sgd/fit.cpp 4
    model.eval();
    for (const Batch& batch : loader) {
        correct +=
            static_cast<double>(count_correct(model(batch.data), batch.target));
        samples += static_cast<double>(batch.size());
    }
    model.train();

// --- cleared-before-the-step
// The gradients are cleared before the step, which then does nothing.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.zero_grad();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }

// --- dropout-at-the-end
// Dropout acts on the class scores.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return drop_(fc2_(mini::relu(fc1_(mini::flatten(x, 1)))));

// --- dropout-not-registered
// drop is not registered, so eval() does not reach it.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc1", fc1_);
    register_module("fc2", fc2_);

// --- evaluated-with-dropout
// The model is evaluated in training mode.
// region: labs/04-modules-losses-sgd/fit.cpp 4
    for (const Batch& batch : loader) {
        correct +=
            static_cast<double>(count_correct(model(batch.data), batch.target));
        samples += static_cast<double>(batch.size());
    }

// --- fc2-not-registered
// fc2 is not registered, so it is not trained.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc1", fc1_);
    register_module("drop", drop_);

// --- gradients-add-up
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

// --- loss-after-the-step
// The loss is computed again after the step.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += mini::cross_entropy(model(batch.data), batch.target).item() *
               static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }

// --- mean-of-batches
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

// --- mean-of-shares
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

// --- mode-not-restored
// The model stays in evaluation mode.
// region: labs/04-modules-losses-sgd/fit.cpp 4
    model.eval();
    for (const Batch& batch : loader) {
        correct +=
            static_cast<double>(count_correct(model(batch.data), batch.target));
        samples += static_cast<double>(batch.size());
    }

// --- mode-not-set
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

// --- names-exchanged
// The layers have exchanged names.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc2", fc1_);
    register_module("drop", drop_);
    register_module("fc1", fc2_);

// --- no-dropout
// Dropout is left out.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return fc2_(mini::relu(fc1_(mini::flatten(x, 1))));

// --- no-relu
// Without the relu, two linear layers are one.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return fc2_(drop_(fc1_(mini::flatten(x, 1))));

// --- no-step
// The optimizer makes no step.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }

// --- relu-at-the-end
// A second relu: scores cannot be negative.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return mini::relu(fc2_(drop_(mini::relu(fc1_(mini::flatten(x, 1))))));

// --- zero-grad-per-epoch
// zero_grad is called once an epoch.
// region: labs/04-modules-losses-sgd/fit.cpp 3
    model.train();
    optimizer.zero_grad();
    for (const Batch& batch : loader) {
        
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }
