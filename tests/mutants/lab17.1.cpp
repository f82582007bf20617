// --- always-current
// The error always compares the current collective.
// region: libmini/distributed/transport/collective.cpp 1
    return theirs == current_ ? theirs : current_;

// --- compared-with-itself
// An equal collective with the same number is compared with itself.
// region: libmini/distributed/transport/collective.cpp 1
    const Collective& same_number = last_[theirs.sequence % kKept];
    return same_number.sequence == theirs.sequence ? same_number : current_;

// --- kept-from-the-last-call
// Only the first call's fingerprint is sent.
// region: libmini/extras/backends/verify.cpp 1
    each_peer([&](int peer, size_t i) {
        if (sent_[i].message.data.empty()) sent_[i].collective = collective;
        sent_[i].message.data = bytes_of(sent_[i].collective);
        received_[i].message.data = bytes_of(received_[i].collective);
        post_note(sent_[i].message, PointMessage::Direction::kSend, peer,
                  kFingerprintTag);
        post_note(received_[i].message, PointMessage::Direction::kRecv, peer,
                  kFingerprintTag);
    });

// --- only-from-rank-0
// Only rank 0's fingerprint is compared.
// region: libmini/extras/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    if (rank() != 0) history.check_same(rank(), 0, received_[0].collective);

// --- only-the-right-neighbour
// A rank compares with its right neighbour only.
// region: libmini/extras/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    const auto right = static_cast<size_t>((rank() + 1) % world_size());
    if (world_size() > 1)
        history.check_same(rank(), static_cast<int>(right), received_[right].collective);

// --- own-fingerprint-received
// A rank receives into the buffer that it sends.
// region: libmini/extras/backends/verify.cpp 1
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

// --- slot-not-checked
// The slot is used even if it holds another sequence number.
// region: libmini/distributed/transport/collective.cpp 1
    const Collective& same_number = last_[theirs.sequence % kKept];
    return same_number != theirs ? same_number : current_;

// --- some-fields-compared
// Only the operation, the dtype and the count are compared.
// region: libmini/extras/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    each_peer([&](int peer, size_t i) {
        const Collective& theirs = received_[i].collective;
        if (theirs.operation != collective.operation || theirs.count != collective.count ||
            theirs.dtype != collective.dtype)
            history.check_same(rank(), peer, theirs);
    });
