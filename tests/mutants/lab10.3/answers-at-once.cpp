// A missing key is answered at once, by nothing.
// region: libmini/distributed/store/store_service.cpp 1
    const std::string* value = table_.find(question.key);
    return reply_(client, question.id, Status::kDone,
                      value != nullptr && question.command == Command::kGet ? *value : "");

