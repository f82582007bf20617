// --- averaged-before-the-step
// The mean is computed before the step, and the step leads away from it.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
        optimizer.step();
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- count-kept-between-epochs
// The count goes on in the next epoch, and each thread has one for all models.
    thread_local int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- counted-before-the-step
// The count begins one step too early: the first average comes after the first step.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (steps++ % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- end-averaged-twice
// After the last step the models are averaged even if they just have been.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    mini::parallel::average_parameters(model, group);

// --- end-forgotten
// The steps after the last whole period are not averaged: the replicas differ.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }

// --- every-step
// `period` is not read: the parameters are averaged after every step.
    [[maybe_unused]] int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        ++steps;
        mini::parallel::average_parameters(model, group);
    }
    static_cast<void>(period);

// --- gradients-averaged-too
// The gradients are averaged as well: all of the communication, and more.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- gradients-every-period
// Gradients, not parameters, are averaged once a period: the replicas drift apart.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        if (++steps % period == 0)
            mini::parallel::average_gradients(model.parameters(), group);
        optimizer.step();
    }

// --- gradients-kept-for-a-period
// Gradients are zeroed once a period, as if they were accumulated.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        if (steps % period == 0) optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- loss-after-the-average
// The loss is computed again after the step, from the model that has just learnt.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        loss.backward();
        optimizer.step();
        epoch_loss += mini::cross_entropy(model(data), target).item();
        if (++steps % period == 0) mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);

// --- only-at-the-end
// One average at the end of the epoch: the ranks train apart.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        ++steps;
    }
    static_cast<void>(period);
    if (steps > 0) mini::parallel::average_parameters(model, group);

// --- rank-0-for-all
// Rank 0's model is sent to all: what the others have learnt is lost.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0) start_alike(model, group);
    }
    if (steps % period != 0) start_alike(model, group);

// --- rank-0-only
// A collective inside `if (rank == 0)`: rank 0 waits for the others.
    int64_t steps = 0;
    for (const auto& [data, target] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(data), target);
        epoch_loss += loss.item();
        loss.backward();
        optimizer.step();
        if (++steps % period == 0 && group.rank() == 0)
            mini::parallel::average_parameters(model, group);
    }
    if (steps % period != 0) mini::parallel::average_parameters(model, group);
