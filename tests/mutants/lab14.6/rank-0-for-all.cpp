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
