// The queue stays in waiters_, with clients that were answered.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto entry = waiters_.find(key);
    if (entry == waiters_.end()) return;
    for (StoreClient* client : entry->second) {
        if (!client->question) continue;
        ask(*client, *std::exchange(client->question, std::nullopt));
    }
