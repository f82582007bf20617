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
