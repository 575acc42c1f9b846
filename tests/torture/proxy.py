#!/usr/bin/env python3
"""The network between executors and servers, so that it can be bad.

usage: proxy.py ORDERS NAME=PORT:HOST:PORT...    (listen on 127.0.0.1:PORT, 0: a free one; connect to HOST:PORT)

Prints "NAME PORT" a line when all listen, then obeys lines written to the FIFO ORDERS:
  NAME slow MS      each piece of data waits about MS before it goes on
  NAME rate BYTES   at most so many a second, each way of each connection
  NAME cut          nothing goes through, and nobody is told: no FIN, no RST; new connections get no answer
  NAME deaf         new connections get no answer; prints "deaf NAME"
  NAME heal         all well again: what was held back by a cut arrives
  NAME reset [PORT] every connection is reset (RST) on both sides, or the one that the server knows by PORT; new ones are well
A NAME that ends with * means all that begin so. Ends with its parent.
"""
import asyncio
import os
import random
import socket
import struct
import sys

PIECE = 65536


class Link:
    def __init__(self, name, target):
        self.name, self.target = name, target
        self.pairs = set()
        self.open = asyncio.Event()
        self.hears = asyncio.Event()
        self.heal()

    def heal(self):
        self.slow_s = self.rate = 0
        self.open.set()
        self.hears.set()

    async def carry(self, data):
        """The way of one piece of data through this network."""
        if self.rate:
            await asyncio.sleep(len(data) / self.rate)
        if self.slow_s:
            await asyncio.sleep(self.slow_s * (0.5 + random.random()))
        await self.open.wait()

    def obey(self, order, value):
        if order == "slow":
            self.slow_s = int(value) / 1000
        elif order == "rate":
            self.rate = int(value)
        elif order == "cut":
            self.open.clear()
        elif order == "deaf":
            self.hears.clear()
            print("deaf", self.name, flush=True)
        elif order == "heal":
            self.heal()
        elif order == "reset":
            for pair in list(self.pairs):
                if not value or pair.port() == int(value):
                    pair.reset()
        else:
            print(f"proxy: unknown order {order}", file=sys.stderr, flush=True)


class Pair:
    """A client's connection and ours to the server."""

    def __init__(self, link, client):
        self.link, self.client, self.server, self.ways = link, client, None, []
        link.pairs.add(self)

    async def run(self):
        loop = asyncio.get_running_loop()
        hard = True
        try:
            await self.link.hears.wait()
            await self.link.open.wait()
            self.server = socket.socket()
            self.server.setblocking(False)
            await loop.sock_connect(self.server, self.link.target)
            for s in (self.client, self.server):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ways = [self.pump(self.client, self.server), self.pump(self.server, self.client)]
            self.ways = [asyncio.ensure_future(way) for way in ways]
            await asyncio.wait(self.ways, return_when=asyncio.FIRST_EXCEPTION)
            hard = any(not way.done() or way.cancelled() or way.exception() for way in self.ways)
        except OSError:
            pass
        await self.stop()
        self.close(hard)

    async def pump(self, source, sink):
        loop = asyncio.get_running_loop()
        while True:
            data = await loop.sock_recv(source, PIECE)
            await self.link.carry(data)
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            await loop.sock_sendall(sink, data)

    async def stop(self):
        """Nothing may wait for a socket that is closed."""
        for way in self.ways:
            way.cancel()
        await asyncio.gather(*self.ways, return_exceptions=True)

    def close(self, reset):
        self.link.pairs.discard(self)
        for s in (self.client, self.server):
            if s is not None:
                if reset:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()

    def port(self):
        return self.server.getsockname()[1] if self.server is not None else None

    def reset(self):
        """run() sees it and closes."""
        for way in self.ways:
            way.cancel()


async def serve(link, listener):
    loop = asyncio.get_running_loop()
    while True:
        client, _ = await loop.sock_accept(listener)
        client.setblocking(False)
        asyncio.ensure_future(Pair(link, client).run())


def obey_all(links, fifo, rest):
    rest[0] += os.read(fifo, PIECE).decode()
    *lines, rest[0] = rest[0].split("\n")
    for line in lines:
        name, order, value = (line.split() + ["", ""])[:3]
        for link in links:
            if link.name == name or (name.endswith("*") and link.name.startswith(name[:-1])):
                link.obey(order, value)


async def main():
    orders, *specs = sys.argv[1:]
    parent = os.getppid()
    links = []
    for spec in specs:
        name, _, address = spec.partition("=")
        port, host, target_port = address.split(":")
        link = Link(name, (host, int(target_port)))
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(port)))
        listener.listen(256)
        listener.setblocking(False)
        asyncio.ensure_future(serve(link, listener))
        links.append(link)
        print(name, listener.getsockname()[1])
    # read and write: it is never at its end
    fifo = os.open(orders, os.O_RDWR | os.O_NONBLOCK)
    asyncio.get_running_loop().add_reader(fifo, obey_all, links, fifo, [""])
    print("ready", flush=True)
    while os.getppid() == parent:
        await asyncio.sleep(1)


asyncio.run(main())
