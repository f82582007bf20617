#include "libmini/io/sha256.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("digests equal the examples of the standard") {
    // FIPS 180-4: the empty message, one block, two blocks, and a million times "a".
    CHECK(mini::io::sha256_hex(bytes_of("")) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(mini::io::sha256_hex(bytes_of("abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(mini::io::sha256_hex(
              bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(mini::io::sha256_hex(bytes_of(std::string(1'000'000, 'a'))) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
