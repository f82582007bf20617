// The client that asked last is answered first.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      question.command == Command::kGet ? *value : "");
    client.question = std::move(question);
    auto& queue = waiters_[client.question->key];
    queue.insert(queue.begin(), &client);
