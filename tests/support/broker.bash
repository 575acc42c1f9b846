# tests/support/broker.bash: functions for a Kafka of a test's own (scripts/servers start DIR; DIR/env is sourced), and
# to its files. Sourced after shell.bash.
#   broker_kill                   kill -9
#   broker_start DIR              starts it again on the same ports with the data on its disk; waits until it serves
#   broker_wipe                   while it is away: its disk is empty, and it belongs to another cluster
#   segment TOPIC                 the file that holds partition 0
#   segment_keep FILE N           cuts the file behind its first N batches, as a host does that forgets its last writes
#   segment_damage FILE crc|garbage  flips bytes in the first batch: so that its checksum is wrong; so that it is right
#                                    and compressed records cannot be read
#   put TOPIC [KCAT OPTION...]    each line of stdin is a record in a batch of its own

broker_kill() {
    mapfile -d '' -t broker_argv <"/proc/$LOCKSTEP_TEST_KAFKA_PID/cmdline"
    kill -KILL "$LOCKSTEP_TEST_KAFKA_PID"
    eventually 10 broker_gone
}

broker_gone() { ! grep -qs '^State:.[^ZX]' "/proc/$LOCKSTEP_TEST_KAFKA_PID/status"; }

broker_start() {
    local log=$LOCKSTEP_TEST_HOME/kafka.log before
    before=$(grep -c 'Kafka Server started' "$log")
    setsid "${broker_argv[@]}" </dev/null >>"$log" 2>&1 &
    LOCKSTEP_TEST_KAFKA_PID=$!
    disown # scripts/servers stop ends it
    sed -i "s/^LOCKSTEP_TEST_KAFKA_PID=.*/LOCKSTEP_TEST_KAFKA_PID=$LOCKSTEP_TEST_KAFKA_PID/" "$1/env"
    eventually 60 broker_serves "$log" "$before"
}

broker_serves() { [ "$(grep -c 'Kafka Server started' "$1")" -gt "$2" ]; }

broker_wipe() {
    local count=${#broker_argv[@]} data=$LOCKSTEP_TEST_HOME/kafka/data
    rm -rf "$data"
    "$root/scripts/kafka/storage" "${broker_argv[count - 3]%/\*}" "$data"
}

segment() { echo "$LOCKSTEP_TEST_HOME/kafka/data/$1-0/00000000000000000000.log"; }

# Kafka's record batch, version 2: base offset 8, length 4, leader epoch 4, magic 1, crc 4 (CRC-32C of all that
# follows), ...
segment_keep() {
    python3 - "$1" "$2" <<'END'
import struct, sys
path, count = sys.argv[1], int(sys.argv[2])
data, at = open(path, 'rb').read(), 0
for _ in range(count):
    at += 12 + struct.unpack('>i', data[at + 8:at + 12])[0]
assert at < len(data)
open(path, 'r+b').truncate(at)
END
}

segment_damage() {
    python3 - "$1" "$2" <<'END'
import struct, sys
path, how = sys.argv[1:]
table = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ 0x82f63b78 if n & 1 else n >> 1
    table.append(n)
with open(path, 'r+b') as file:
    data = bytearray(file.read())
    end = 12 + struct.unpack('>i', data[8:12])[0]
    for at in range(end - 20, end - 10):
        data[at] ^= 0xff
    if how == 'garbage':
        crc = 0xffffffff
        for byte in data[21:end]:
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
        data[17:21] = struct.pack('>I', crc ^ 0xffffffff)
    file.seek(0)
    file.write(data)
END
}

put() {
    local topic=$1 line
    shift
    while IFS= read -r line; do
        kcat -P -q -b "$LOCKSTEP_TEST_BROKERS" -t "$topic" -p 0 "$@" <<<"$line"
    done
}
