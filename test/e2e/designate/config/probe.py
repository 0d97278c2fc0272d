"""probe.py ADDRESS NAME COUNT: asks a server, over UDP and without pause, for www TXT of NAME-1.example to NAME-COUNT.example,
until its standard input ends. Before the first answer, nobody needs to answer. From then on every answer has to be there and
to be the right one: if not, this ends with 1. It ends with 2 if that could not be found out: when it was not there before the
first answer, or got no answer for every zone."""
import os
import select
import socket
import struct
import sys
import time

PATIENCE = 3
# How long the first answer may take after whoever runs this has seen enough: kube-proxy has to hear of the server, too.
OPENING = 10
NOT_THERE = 'no answer'


def question(number, zone):
    labels = b''.join(bytes([len(label)]) + label for label in ('www.' + zone).encode().split(b'.'))
    return struct.pack('>6H', number, 0, 1, 0, 0, 0) + labels + b'\0' + struct.pack('>2H', 16, 1)


def ask(address, number, zone):
    """None, when the answer is the right one, or what is wrong."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE)
        try:
            client.connect((address, 53))
            client.send(question(number, zone))
            answer = client.recv(4096)
        except OSError:
            return NOT_THERE
    got, flags, _, records = struct.unpack('>4H', answer[:8])
    if got != number:
        return 'the answer to another question'
    if flags & 15:
        return 'rcode %d' % (flags & 15)
    # The data of the record. What else a server may add comes after it.
    text = zone.split('.')[0].encode()
    return None if records == 1 and struct.pack('>HB', len(text) + 1, len(text)) + text in answer else 'another answer'


def main(address, name, count):
    zones = ['%s-%d.example' % (name, i + 1) for i in range(int(count))]
    before = asked = 0
    ended = deadline = None
    while True:
        zone = zones[asked % len(zones)]
        wrong = ask(address, (before + asked) % 65536, zone)
        if wrong == NOT_THERE and asked == 0:
            before += 1
            time.sleep(0.005)
        elif wrong:
            print('after %d answers: %s: %s' % (asked, zone, wrong), file=sys.stderr)
            return 1
        else:
            asked += 1
            time.sleep(0.001)
        if ended is None and select.select([0], [], [], 0)[0] and not os.read(0, 4096):
            ended, deadline = asked, time.monotonic() + OPENING
        # All zones once more, after that.
        if ended is not None and (asked >= ended + len(zones) if asked else time.monotonic() >= deadline):
            print('nobody answered %d times, then %d answers' % (before, asked))
            return 0 if before and asked else 2


sys.exit(main(*sys.argv[1:]))
