// The bytes of the next reply are thrown away, too.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.clear();
    return reply;
