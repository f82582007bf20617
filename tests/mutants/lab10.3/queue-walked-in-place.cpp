// The queue is walked through while it is in the map, where forget() changes it.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto found = waiters_.find(key);
    if (found == waiters_.end()) return;
    for (size_t i = 0; i < found->second.size(); ++i) {
        StoreClient* client = found->second[i];
        const StoreClient::Question question = *client->question;
        reply_(*client, question.id, Status::kDone,
               question.command == Command::kGet ? *table_.find(key) : "");
        client->question.reset();
    }
    waiters_.erase(key);
