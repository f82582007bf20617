// Only the first client of the queue is answered.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr)
        return;  // an erase, or a compare_set that set nothing
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (StoreClient* client : waiting.mapped()) {
        if (!client->question) continue;  // it was dropped to make room
        ask(*client, *std::exchange(client->question, std::nullopt));
        break;
    }
