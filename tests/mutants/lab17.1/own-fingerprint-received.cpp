// A rank receives into the buffer that it sends.
// region: libmini/distributed/backends/verify.cpp 1
    each_peer([&](int peer, size_t i) {
        sent_[i].collective = collective;
        sent_[i].message.data = bytes_of(sent_[i].collective);
        received_[i].collective = collective;
        received_[i].message.data = bytes_of(sent_[i].collective);
        post_note(sent_[i].message, PointMessage::Direction::kSend, peer,
                  kFingerprintTag);
        post_note(received_[i].message, PointMessage::Direction::kRecv, peer,
                  kFingerprintTag);
    });
