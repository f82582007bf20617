// --- answers-at-once
// A missing key is answered at once, by nothing.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    return reply_(client, question.id, Status::kDone,
                      value != nullptr && question.command == Command::kGet ? *value : "");

// --- dropped-client-not-skipped
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

// --- empty-queue-stays
// forget() leaves an empty queue.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;
    std::erase(found->second, &client);

// --- found-and-not-taken-out
// The queue stays in waiters_, with clients that were answered.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto entry = waiters_.find(key);
    if (entry == waiters_.end()) return;
    for (StoreClient* client : entry->second) {
        if (!client->question) continue;
        ask(*client, *std::exchange(client->question, std::nullopt));
    }

// --- keeps-the-question
// forget() removes the client from the queue and keeps its question.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    if (found == waiters_.end()) return;  // its reply is being sent
    std::erase(found->second, &client);
    if (found->second.empty()) waiters_.erase(found);

// --- key-not-looked-for
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

// --- moved-key
// The key is read after it has moved away.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      question.command == Command::kGet ? *value : "");
    client.question = std::move(question);
    waiters_[question.key].push_back(&client);

// --- newest-first
// The client that asked last is answered first.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      question.command == Command::kGet ? *value : "");
    client.question = std::move(question);
    auto& queue = waiters_[client.question->key];
    queue.insert(queue.begin(), &client);

// --- one-waiter
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

// --- question-stays
// The question stays in the client when it has been answered.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr)
        return;  // an erase, or a compare_set that set nothing
    const auto waiting = waiters_.extract(key);
    if (waiting.empty()) return;
    for (StoreClient* client : waiting.mapped()) {
        if (!client->question) continue;  // it was dropped to make room
        ask(*client, *client->question);
    }

// --- queue-not-emptied
// The clients stay in the queue and are answered again.
// region: libmini/distributed/store/store_service.cpp 3
    if (table_.find(key) == nullptr) return;
    const auto found = waiters_.find(key);
    if (found == waiters_.end()) return;
    const auto waiting = found->second;
    for (StoreClient* client : waiting)
        if (client->question) ask(*client, *client->question);

// --- queue-walked-in-place
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

// --- stays-in-the-queue
// forget() forgets the question and leaves the client in the queue.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;  // its reply is being sent
    static_cast<void>(found);

// --- taken-one-by-one
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

// --- wait-gets-the-value
// A wait is answered by the value.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      *value);
    client.question = std::move(question);
    waiters_[client.question->key].push_back(&client);

// --- whole-queue
// forget() removes the whole queue of the key.
// region: libmini/distributed/store/store_service.cpp 2
    if (!client.question) return;
    const auto found = waiters_.find(client.question->key);
    client.question.reset();
    if (found == waiters_.end()) return;  // its reply is being sent
    waiters_.erase(found);
