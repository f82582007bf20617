// A client that was dropped meanwhile is asked for its question.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr)
        return;  // an erase, or a compare_set that set nothing
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (StoreClient* client : waiting.mapped()) {
        const auto kept = client->question.value_or(StoreClient::Question{0, Command::kGet, key}); if (!client->question) client->question = kept;
        ask(*client, *std::exchange(client->question, std::nullopt));
    }
