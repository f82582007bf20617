// The key is read after it has moved away.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    if (value != nullptr)
        return reply_(client, question.id, Status::kDone,
                      question.command == Command::kGet ? *value : "");
    client.question = std::move(question);
    waiters_[question.key].push_back(&client);
