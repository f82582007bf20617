#include "libmini/distributed/store/store_protocol.hpp"

#include <cstring>
#include <utility>

// [lab10 file]
namespace mini::dist::protocol {
namespace {

template <typename Head>
std::string bytes_of(const Head& head) {
    std::string bytes(sizeof head, '\0');
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

// Returns the head at the start of `bytes`; std::nullopt while it is incomplete.
template <typename Head>
std::optional<Head> head_of(const std::string& bytes) {
    Head head;
    if (bytes.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    return head;
}

}  // namespace

std::string to_bytes(const Request& request) {
    return bytes_of(RequestHead{request.id, request.command,
                                static_cast<uint32_t>(request.key.size()),
                                static_cast<uint32_t>(request.value.size()),
                                static_cast<uint32_t>(request.expected.size())}) +
           request.key + request.value + request.expected;
}

std::string to_bytes(const Reply& reply) {
    return bytes_of(ReplyHead{reply.id, reply.status,
                              static_cast<uint32_t>(reply.value.size())}) +
           reply.value;
}

std::optional<Request> take_request(std::string& bytes) {
    // [lab10.4] Return a request that is complete, and remove its bytes.
    const auto head = head_of<RequestHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->command >= Command::kSet && head->command <= Command::kNumKeys,
               "command ", static_cast<uint32_t>(head->command), " does not exist");
    MINI_CHECK(head->key_bytes <= kMaxKeyBytes && head->value_bytes <= kMaxValueBytes &&
                   head->expected_bytes <= kMaxValueBytes,
               "a request with a key of ", head->key_bytes, " bytes and values of ",
               head->value_bytes, " and ", head->expected_bytes);
    size_t end = sizeof *head;
    const auto take = [&](size_t size) {
        return bytes.substr(std::exchange(end, end + size), size);
    };
    const size_t body =
        size_t{head->key_bytes} + head->value_bytes + head->expected_bytes;
    if (bytes.size() < end + body) return std::nullopt;
    Request request{head->id, head->command, take(head->key_bytes),
                    take(head->value_bytes), take(head->expected_bytes)};
    bytes.erase(0, end);
    return request;
    // [lab10.4]
}

std::optional<Reply> take_reply(std::string& bytes) {
    // [lab10.4] Return a reply that is complete, and remove its bytes.
    const auto head = head_of<ReplyHead>(bytes);
    if (!head) return std::nullopt;
    MINI_CHECK(head->status <= Status::kRefused && head->value_bytes <= kMaxValueBytes,
               "a reply of status ", static_cast<uint32_t>(head->status), " with ",
               head->value_bytes, " bytes");
    const size_t end = sizeof *head + head->value_bytes;
    if (bytes.size() < end) return std::nullopt;
    Reply reply{head->id, head->status, bytes.substr(sizeof *head, head->value_bytes)};
    bytes.erase(0, end);
    return reply;
    // [lab10.4]
}

}  // namespace mini::dist::protocol
// [lab10 file]
