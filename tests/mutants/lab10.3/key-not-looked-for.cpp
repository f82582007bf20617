// The queue is emptied, though the key does not exist.
// region: libmini/distributed/store/store_service.cpp 3
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (StoreClient* client : waiting.mapped()) {
        if (!client->question) continue;  // it was dropped to make room
        {
            const auto question = *std::exchange(client->question, std::nullopt);
            const std::string* value = table_.find(key);
            reply_(*client, question.id, Status::kDone, value && question.command == Command::kGet ? *value : "");
        }
    }
