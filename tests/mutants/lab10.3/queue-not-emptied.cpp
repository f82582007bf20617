// The clients stay in the queue and are answered again.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto found = waiters_.find(key);
    if (found == waiters_.end()) return;
    const auto waiting = found->second;
    for (StoreClient* client : waiting)
        if (client->question) ask(*client, *client->question);
