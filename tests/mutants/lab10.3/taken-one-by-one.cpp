// The clients are taken out of the queue one by one, while it is in waiters_.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto entry = waiters_.find(key);
    if (entry == waiters_.end()) return;
    std::vector<StoreClient*>& queue = entry->second;
    while (!queue.empty()) {
        StoreClient* client = queue.front();
        queue.erase(queue.begin());
        if (client->question) ask(*client, *std::exchange(client->question, std::nullopt));
    }
    waiters_.erase(entry);
