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
