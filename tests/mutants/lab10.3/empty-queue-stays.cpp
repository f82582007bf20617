// forget() leaves an empty queue.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;
    std::erase(found->second, &client);
