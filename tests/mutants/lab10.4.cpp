// --- bytes-cleared
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

// --- bytes-stay
// The bytes of the reply stay.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    return reply;

// --- deadline-not-kept
// The wait for bytes has no deadline.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, kNever)) throw_silent();
    }

// --- first-reply
// The first reply is taken, whatever its id is.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id || reply->id < id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }

// --- head-not-checked
// The status and the size are not looked at.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->id + 1 > 0 || true,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.erase(0, end);
    return reply;

// --- inbox-cleared
// A call throws away what the call before it left.
// region: libmini/distributed/store/tcp_store.cpp
    inbox_.clear();
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }

// --- one-byte-more
// A reply waits for a byte that belongs to the next one.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() <= end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.erase(0, end);
    return reply;

// --- one-reply-per-read
// Of two replies in one read only the first is looked at.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        if (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        if (!inbox_.empty() && inbox_.size() >= 13) inbox_.clear();
        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }

// --- overwrites
// Each read overwrites what was read before.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = 0;
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }

// --- rest-is-the-value
// All bytes after the head are taken for the value.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head)};
    bytes.erase(0, end);
    return reply;

// --- silence-at-once
// A read without bytes counts as silence.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        inbox_.resize(old + n);
        if (n == 0) throw_silent();
    }

// --- size-not-checked
// Any size of the value is accepted.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.erase(0, end);
    return reply;

// --- value-may-be-short
// A reply is taken as soon as its head is there.
// region: libmini/distributed/store/store_protocol.cpp
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.erase(0, end);
    return reply;

// --- zeros-stay
// The part of the buffer that no byte reached is kept.
// region: libmini/distributed/store/tcp_store.cpp
    while (true) {
        while (auto reply = protocol::take_reply(inbox_))
            if (reply->id == id) return *std::move(reply);

        const size_t old = inbox_.size();
        inbox_.resize(old + protocol::kReadBytes);
        const size_t n =
            recv_some(socket_, std::as_writable_bytes(std::span(inbox_).subspan(old)));
        if (n == 0 && !wait_for(socket_, POLLIN, deadline)) throw_silent();
    }
