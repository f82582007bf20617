#!/bin/sh
# Two nodes of two ranks, each in a network namespace of its own, joined by a virtual cable:
# the four ranks must meet over TCP, share memory within a node, and end with equal parameters.
#
#     two_nodes.sh BIN_DIR DATA_DIR
#
# Exit code 77, with a message, where namespaces may not be made.
set -eu
bin=$1
data=$2
id=mini$$
folder=$(mktemp -d)

clean() {
    ip netns del "$id-a" 2>/dev/null || true
    ip netns del "$id-b" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean EXIT

lay_the_cable() {
    ip netns add "$id-a" && ip netns add "$id-b" &&
        ip link add "a$$" netns "$id-a" type veth peer name "b$$" netns "$id-b" &&
        ip -n "$id-a" addr add 10.77.0.1/24 dev "a$$" &&
        ip -n "$id-b" addr add 10.77.0.2/24 dev "b$$" &&
        ip -n "$id-a" link set "a$$" up && ip -n "$id-b" link set "b$$" up &&
        ip -n "$id-a" link set lo up && ip -n "$id-b" link set lo up
}
if ! lay_the_cable 2>"$folder/why"; then
    echo "left out: this machine lets nobody make network namespaces ($(head -1 "$folder/why"))"
    exit 77
fi

node() {
    ip netns exec "$1" env MINI_STORE_COOKIE=00112233445566778899aabbccddeeff \
        "$bin/minirun" --nnodes 2 --node-rank "$2" -n 2 --rdzv-endpoint 10.77.0.1:29400 \
        "$bin/train_mnist" --data "$data" --steps 5 --batch-size 20 --json
}
node "$id-b" 1 >"$folder/b" 2>&1 &
other=$!
node "$id-a" 0 >"$folder/a" 2>"$folder/err" || { cat "$folder/a" "$folder/err" "$folder/b"; exit 1; }
wait "$other" || { cat "$folder/b"; exit 1; }

# All four ranks must have the same parameters.
digests=$(tail -1 "$folder/a" | grep -o '"[0-9a-f]\{64\}"')
if [ "$(echo "$digests" | wc -l)" -ne 4 ] || [ "$(echo "$digests" | sort -u | wc -l)" -ne 1 ]; then
    echo "the ranks do not agree: $digests"
    exit 1
fi
echo "four ranks on two nodes agree"
