#!/bin/bash
# A cluster of Kafka with an authorizer that allows the login nothing: `check` says that Kafka answers, and which topic
# the login may not see.
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
cases_end
exit $failed
