// forget() forgets the question and leaves the client in the queue.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;  // its reply is being sent
    static_cast<void>(found);
