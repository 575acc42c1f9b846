#!/bin/bash
# A cluster of Kafka with an authorizer that allows the login nothing: `check` says that Kafka answers, and which topic
# the login may not see. An executor of two queues that may not read the topic of one of them works for the other one.
# ctest: nosan lock=servers
. "$(dirname "$0")/../support/own_servers.bash"
. "$here/../support/broker.bash"
scratch_database
lockstep queue create seen -q --create-topic

case_begin 'check says that Kafka answers, and names the topic that the login may not see'
broker_kill
clients=$((${LOCKSTEP_TEST_BROKERS##*:} + 1))
while ss -Hltn "sport = :$clients" | grep -q .; do ((clients++)); done
# Lockstep is a login of a listener of its own; the broker itself, without a login, may do everything.
sed -i -E "s|^(listeners=)|\1CLIENTS://127.0.0.1:$clients,|; s|^(advertised.listeners=)|\1CLIENTS://127.0.0.1:$clients,|
    s|^(listener.security.protocol.map=)|\1CLIENTS:SASL_PLAINTEXT,|" "$LOCKSTEP_TEST_HOME/kafka/server.properties"
cat >>"$LOCKSTEP_TEST_HOME/kafka/server.properties" <<'END'
inter.broker.listener.name=PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
listener.name.clients.sasl.enabled.mechanisms=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
    required user_app="of-the-test";
END
broker_start "$tmp/servers"
status=0
"$LOCKSTEP_BIN" check -d "$db" -b "127.0.0.1:$clients" -X security.protocol=SASL_PLAINTEXT -X sasl.mechanisms=PLAIN \
    -X sasl.username=app -X sasl.password=of-the-test >"$tmp/said" 2>&1 || status=$?
expect 'exit' "$status" 1
grep -Eq '^ok +Kafka +127.0.0.1:[0-9]+ answers$' "$tmp/said" || { cat "$tmp/said"; failed=1; }
grep -Eq '^FAIL +queue seen +seen: .*authorization' "$tmp/said" || { cat "$tmp/said"; failed=1; }

case_begin 'an executor that may not read the topic of one queue runs for its other queue'
broker_kill
echo 'allow.everyone.if.no.acl.found=true' >>"$LOCKSTEP_TEST_HOME/kafka/server.properties"
broker_start "$tmp/servers"
lockstep queue create shut -q --create-topic
lockstep queue create free -q --create-topic
acl() { python3 "$here/../support/acl.py" "$LOCKSTEP_TEST_BROKERS" "$1" shut User:app; }
"$LOCKSTEP_BIN" executor run -d "$db" -b "127.0.0.1:$clients" -X security.protocol=SASL_PLAINTEXT \
    -X sasl.mechanisms=PLAIN -X sasl.username=app -X sasl.password=of-the-test --queue shut --queue free \
    -s "metrics.listen=$tmp/metrics" 2>"$tmp/log" &
pid=$!
counts() { # QUEUE STATE COUNT
    curl -s -o "$tmp/text" --unix-socket "$tmp/metrics" http://localhost/metrics &&
        grep -q "^lockstep_executors{queue=\"$1\",state=\"$2\"} $3\$" "$tmp/text"
}
eventually 30 counts shut running 1 || wrong 'it does not run'
eventually 10 counts free running 1 || wrong 'it does not run'
acl forbid
eventually 30 counts shut troubled 1 || wrong "the queue of the topic: $(lockstep executor list)"
counts free running 1 || wrong "the other queue: $(lockstep executor list)"
expect 'its state' "$(lockstep executor list -o json | jq -r '.[].state')" ok
lockstep executor list -o json | jq -e '.[].trouble | test("^queue shut: shut: .*authorization")' >/dev/null ||
    wrong "its trouble: $(lockstep executor list)"
lockstep queue explain shut | grep -Eq 'cannot read the topic of queue shut .*authorization' ||
    wrong "explain: $(lockstep queue explain shut)"
expect 'explain of the other queue' "$(lockstep queue explain free -o json | jq -r '.[].reason')" queue_idle
lag() { sql "SELECT lockstep.queue_lag(name, next_offset) FROM lockstep.queue WHERE name = '$1'"; }
expect 'the lag of the queue of the topic' "$(lag shut)" ''
expect 'the lag of the other queue' "$(lag free)" 0
lockstep publish --queue free -q --wait --timeout 30s - <<<'{"order": 1, "sql": "SELECT 1"}' >/dev/null ||
    wrong 'the other queue does not run'
acl permit
eventually 30 counts shut running 1 || wrong "it does not come back: $(lockstep executor list)"
expect 'its trouble' "$(lockstep executor list -o json | jq -r '.[].trouble')" null
told_to_end "$pid"
cases_end
exit $failed
