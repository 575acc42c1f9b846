#!/usr/bin/env python3
"""acl.py BROKERS forbid|permit TOPIC PRINCIPAL: an ACL of Kafka denies the principal the topic, or that ACL is deleted.

With librdkafka itself: no program of Kafka's is among the jars of the tests.
"""
import ctypes
import sys

TOPIC, LITERAL, ALL, DENY = 2, 3, 2, 2  # rdkafka.h
POINTERS = ('conf_new', 'new', 'queue_new', 'queue_poll', 'AclBinding_new', 'AclBindingFilter_new', 'event_CreateAcls_result', 'CreateAcls_result_acls', 'acl_result_error')


def main():
    brokers, act, topic, principal = (arg.encode() for arg in sys.argv[1:])
    lib = ctypes.CDLL('librdkafka.so.1')
    for name in POINTERS:
        getattr(lib, f'rd_kafka_{name}').restype = ctypes.c_void_p
    lib.rd_kafka_event_error_string.restype = lib.rd_kafka_error_string.restype = ctypes.c_char_p
    why = ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(lib.rd_kafka_conf_new())
    lib.rd_kafka_conf_set(conf, b'bootstrap.servers', brokers, why, len(why))
    client = ctypes.c_void_p(lib.rd_kafka_new(0, conf, why, len(why)))
    queue = ctypes.c_void_p(lib.rd_kafka_queue_new(client))
    kind = 'AclBinding' if act == b'forbid' else 'AclBindingFilter'
    acl = ctypes.c_void_p(getattr(lib, f'rd_kafka_{kind}_new')(TOPIC, topic, LITERAL, principal, b'*', ALL, DENY, why, len(why)))
    send = lib.rd_kafka_CreateAcls if act == b'forbid' else lib.rd_kafka_DeleteAcls
    send(client, ctypes.byref(acl), ctypes.c_size_t(1), None, queue)
    event = ctypes.c_void_p(lib.rd_kafka_queue_poll(queue, 30000))
    error = 'no answer' if not event else lib.rd_kafka_event_error(event) and lib.rd_kafka_event_error_string(event).decode()
    if not error and act == b'forbid':
        count = ctypes.c_size_t()
        results = lib.rd_kafka_CreateAcls_result_acls(ctypes.c_void_p(lib.rd_kafka_event_CreateAcls_result(event)), ctypes.byref(count))
        refused = lib.rd_kafka_acl_result_error(ctypes.c_void_p(ctypes.cast(results, ctypes.POINTER(ctypes.c_void_p))[0]))
        error = refused and lib.rd_kafka_error_string(ctypes.c_void_p(refused)).decode()
    if error:
        sys.exit(f'acl.py: {error}')


main()
