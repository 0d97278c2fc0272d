"""Asks the API of this pod, which believes that its caller is an administrator. It ends with 1 when something is not as
asked, and with 2 when that could not be found out."""
import base64
import json
import os
import sys
import urllib.error
import urllib.request


def call(method, path, body=None, project='admin'):
    headers = {'Content-Type': 'application/json', 'X-Auth-Project-ID': project, 'X-Roles': 'admin',
               'X-Auth-All-Projects': 'true'}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request('http://127.0.0.1:9001/v2' + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b'null')
    except urllib.error.HTTPError as refusal:
        raise RuntimeError('%s %s: %s' % (method, path, refusal.read().decode())) from refusal


def find(zone):
    """The zone, or something in its place that no zone is."""
    found = call('GET', '/zones?name=%s.' % zone)['zones']
    return found[0] if found else {'status': 'GONE', 'action': 'NONE', 'pool_id': 'no pool'}


def create(project, zone, attributes='{}'):
    made = call('POST', '/zones', {'name': zone + '.', 'email': 'admin@example.org', 'attributes': json.loads(attributes)}, project)
    call('POST', '/zones/%s/recordsets' % made['id'],
         {'name': 'www.%s.' % zone, 'type': 'TXT', 'records': ['"%s"' % zone.split('.')[0]]}, project)


def delete(zone):
    call('DELETE', '/zones/' + find(zone)['id'])


def tsig_key(pool_id):
    """Without a key, Designate makes no zones in a pool that is not the default one."""
    secret = base64.b64encode(os.urandom(32)).decode()
    call('POST', '/tsigkeys', {'name': pool_id, 'algorithm': 'hmac-sha256', 'secret': secret, 'scope': 'POOL', 'resource_id': pool_id})


def state(zone, status, action='NONE'):
    now = find(zone)
    return expect(zone, (now['status'], now['action']), (status, action))


def in_pool(zone, pool_id):
    return expect(zone, find(zone)['pool_id'], pool_id)


def expect(what, got, want):
    if got != want:
        print('%s: got %s, want %s' % (what, got, want), file=sys.stderr)
    return 0 if got == want else 1


COMMANDS = {'create': create, 'delete': delete, 'tsig-key': tsig_key, 'state': state, 'in-pool': in_pool}

try:
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
except (RuntimeError, OSError, KeyError, TypeError, ValueError) as error:
    print('%s: %r' % (sys.argv[1:], error), file=sys.stderr)
    sys.exit(2)
