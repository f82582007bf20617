// A wait is answered by the value.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      *value);
    client.question = std::move(question);
    waiters_[client.question->key].push_back(&client);
