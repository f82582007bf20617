// Targets of the mesh: bytes that a rank reads from another rank or from another program.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/hello.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/socket_pair.hpp"

namespace mini::fuzz {
namespace {

using dist::MessageHeader;

// ---- a sequence of messages

std::string message(MessageHeader header, const std::string& payload) {
    header.payload_bytes = payload.size();
    return text_of_object(header) + payload;
}

Seeds message_seeds() {
    using Kind = MessageHeader::Kind;
    const dist::Collective sum{.operation = dist::Operation::kAllReduce, .count = 4};
    const std::string floats(16, '\1');
    const std::string collective = message({.collective = sum}, floats);
    const std::string point =
        message({.kind = Kind::kPoint, .collective = {}, .tag = 7}, floats);
    const std::string other_point =
        message({.kind = Kind::kPoint, .collective = {}, .tag = 9}, floats);
    const std::string waiting = message({.kind = Kind::kWaiting, .collective = sum}, "");
    const std::string failure =
        message({.kind = Kind::kFailure, .collective = {}}, "0 1 rank 1 is gone");
    return {waiting + other_point + collective + point, collective + failure,
            point + point + point, failure};
}

void run_messages(Input input) {
    Connection connection(input);
    dist::MessageStream stream(
        std::make_unique<dist::SocketChannel>(std::move(connection.mine)));
    const dist::Told told = stream.final_message(dist::deadline_after(kPatience));
    if (told.report) dist::throw_failure(dist::reported(*told.report, 1));
    require(told.is_gone, "a closed connection was not reported");
}

// Runs rank 0 of 2 in an all_reduce, with two posted point-to-point receives; rank 1
// sends the input.
void run_mesh_transport(Input input) {
    const dist::Deadline deadline = dist::deadline_after(kPatience);
    std::array<std::byte, 16> sum{}, first{}, second{};
    const auto receive = [&](int peer, uint64_t tag, std::span<std::byte> place) {
        dist::PointMessage message;
        message.direction = dist::PointMessage::Direction::kRecv;
        message.peer = peer;
        message.tag = tag;
        message.data = place;
        message.deadline = deadline;
        message.timeout = kPatience;
        return message;
    };
    dist::PointMessage of_rank1 = receive(1, 7, first);
    dist::PointMessage of_any = receive(dist::kAnySource, 9, second);

    Connection connection(input);
    std::vector<dist::MessageStream> streams(1);
    streams.emplace_back(
        std::make_unique<dist::SocketChannel>(std::move(connection.mine)));
    dist::MeshTransport rank0(0, std::move(streams));
    rank0.begin({.operation = dist::Operation::kAllReduce, .count = 4}, kPatience);
    rank0.post(of_rank1);
    rank0.post(of_any);
    rank0.recv(1, sum);
    while (!of_rank1.done || !of_any.done) rank0.progress();
}

// ---- another program connects to rank 0 before rank 1 does

const dist::Cookie kCookie = dist::parse_cookie("00112233445566778899aabbccddeeff");

// The store of two ranks. When rank 0 publishes its address, the other program and then
// rank 1 connect; neither waits for a reply.
class IntruderStore : public dist::HashStore {
  public:
    IntruderStore(bool has_token, std::string bytes)
        : has_token_(has_token), bytes_(std::move(bytes)) {
        set("mesh/1", dist::system().host_id() + " 127.0.0.1:1 " +
                          dist::memory_sharing_id() + " 0");
    }

    void set(const std::string& key, const std::string& value) override {
        dist::HashStore::set(key, value);
        if (key == "mesh/0") connect_both(value);
    }

  private:
    void connect_both(const std::string& place) {
        std::istringstream fields(place);
        std::string host, address, sharing_id;
        uint64_t token = 0;
        fields >> host >> address >> sharing_id >> token;

        constexpr size_t kTokenOffset = offsetof(dist::Hello, token);
        if (has_token_ && bytes_.size() >= sizeof(dist::Hello))
            std::memcpy(bytes_.data() + kTokenOffset, &token, sizeof token);
        const dist::Deadline deadline = dist::deadline_after(kPatience);
        const auto connect = [&] {
            return dist::connect_to(dist::parse_address(address), deadline);
        };
        intruder_ = connect();
        if (!bytes_.empty()) dist::send_some(intruder_, bytes_of(bytes_));

        rank1_ = connect();
        const auto hello =
            dist::make_hello(dist::Hello::Role::kMeshConnector, kCookie, 1, 0, token);
        memory_ = dist::make_shared_memory(dist::RingChannel::memory_bytes()).descriptor;
        const std::array<int32_t, 2> memory = {::getpid(), memory_.fd()};
        dist::send_some(rank1_, std::as_bytes(std::span(&hello, 1)),
                        std::as_bytes(std::span(memory)));
    }

    bool has_token_;
    std::string bytes_;
    dist::Socket intruder_, rank1_, memory_;
};

void run_mesh_door(Input input) {
    Taker taker(input);
    const bool has_token = taker.take<uint8_t>() >= 128;
    IntruderStore store(has_token, text_of(taker.rest()));
    dist::RendezvousConfig config;
    config.rank = 0;
    config.world_size = 2;
    config.cookie = kCookie;
    const auto run_rank0 = [&] {
        const dist::Mesh mesh =
            dist::connect_mesh(config, store, "127.0.0.1", dist::Medium::kAuto,
                               dist::deadline_after(kPatience));
        require(mesh.streams[1].is_open(), "rank 1 is not connected");
    };
    // A program with the right token may take rank 1's place; other programs must not.
    has_token ? run_rank0() : require_success(run_rank0);
}

Seeds mesh_door_seeds() {
    const auto greeting = [](int rank, int peer, const dist::Cookie& cookie) {
        const auto said =
            dist::make_hello(dist::Hello::Role::kMeshConnector, cookie, rank, peer);
        return text_of_object(said);
    };
    const std::string no_memory(8, '\xff'), other_memory(8, '\0');
    return {"\1" + greeting(1, 0, kCookie) + no_memory,
            "\xff" + greeting(1, 0, kCookie) + no_memory,
            "\xff" + greeting(1, 0, kCookie) + other_memory,
            "\xff" + greeting(1, -1, kCookie) + other_memory,
            std::string(1, '\0') + greeting(1, 0, dist::Cookie{}) + no_memory,
            "\1GET / HTTP/1.1\r\n\r\n"};
}

void run_hello(Input input) {
    std::string bytes = text_of(input);
    const auto theirs = dist::take_hello(bytes);
    if (!theirs) return;
    for (const auto role :
         {dist::Hello::Role::kStoreClient, dist::Hello::Role::kStoreServer,
          dist::Hello::Role::kMeshAcceptor}) {
        const dist::Hello mine = dist::make_hello(role, kCookie, 0, -1, 5);
        const bool is_right = dist::hello_error(*theirs, mine).empty();
        require(!is_right || theirs->cookie == kCookie, "a wrong cookie was accepted");
        const int rank = dist::rank_of_connector(*theirs, mine, 4);
        require(rank == -1 || (is_right && rank > 0 && rank < 4),
                "not a rank of this world");
    }
}

Seeds hello_seeds() {
    Seeds seeds;
    for (const auto role :
         {dist::Hello::Role::kMeshConnector, dist::Hello::Role::kStoreClient,
          dist::Hello::Role::kStoreServer}) {
        const dist::Hello hello = dist::make_hello(role, kCookie, 3, 0, 5);
        seeds.push_back(text_of_object(hello));
    }
    return seeds;
}

}  // namespace

std::vector<Target> mesh_targets() {
    return {{"messages", run_messages, message_seeds()},
            {"mesh_transport", run_mesh_transport, message_seeds()},
            {"hello", run_hello, hello_seeds()},
            {"mesh_door", run_mesh_door, mesh_door_seeds()}};
}

}  // namespace mini::fuzz
