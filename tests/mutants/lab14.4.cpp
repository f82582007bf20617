// --- averaged-after-the-step
// The step is made with the rank's own gradients, which are averaged too late.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        mini::parallel::average_gradients(model.parameters(), group);
    }

// --- averaged-on-rank-0-only
// Only rank 0 averages, and waits for the others.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        if (group.rank() == 0)
            mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }

// --- averaged-once-an-epoch
// The gradients are averaged after the epoch, when all steps are made.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
    }
    mini::parallel::average_gradients(model.parameters(), group);

// --- gradients-not-forgotten
// Each step adds to the gradients of the steps before it.
    for (const auto& [data, target] : loader) {
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }

// --- loss-of-the-last-batch
// The loss of an epoch is that of its last batch.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss = loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }

// --- never-averaged
// Each rank trains alone on its part.
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor output = model(data);
        const Tensor loss = mini::cross_entropy(output, target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
    }

// --- step-before-backward
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

// --- zeroed-after-backward
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
