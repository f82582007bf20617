// forget() removes the client from the queue and keeps its question.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    if (found == waiters_.end()) return;  // its reply is being sent
    std::erase(found->second, &client);
    if (found->second.empty()) waiters_.erase(found);
