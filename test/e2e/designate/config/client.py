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


def populate(project, name, count, attributes='{}'):
    for i in range(int(count)):
        create(project, '%s-%d.example' % (name, i + 1), attributes)


def change(zone, text):
    path = '/zones/%s/recordsets' % find(zone)['id']
    www = call('GET', path + '?name=www.%s.&type=TXT' % zone)['recordsets'][0]
    call('PUT', path + '/' + www['id'], {'records': ['"%s"' % text]})


def in_pools(*pool_ids):
    return [zone for zone in call('GET', '/zones?limit=1000')['zones'] if zone['pool_id'] in pool_ids]


def active(count, pool_id):
    states = [zone['status'] for zone in in_pools(pool_id)]
    return expect('zones of the pool', sorted(states), ['ACTIVE'] * int(count))


def pools(*pool_ids):
    """Whether Designate has all of these pools and a TSIG key for each, or nothing of any."""
    there = [pool['id'] for pool in call('GET', '/pools?limit=1000')['pools'] if pool['id'] in pool_ids]
    keys = [key['resource_id'] for key in call('GET', '/tsigkeys?limit=1000')['tsigkeys'] if key['resource_id'] in pool_ids]
    return sorted(there), sorted(keys)


def knows(*pool_ids):
    return expect('pools with keys', pools(*pool_ids), (sorted(pool_ids), sorted(pool_ids)))


def lacks(*pool_ids):
    return expect('pools with keys', pools(*pool_ids), ([], []))


def serials(*pool_ids):
    for zone in sorted(in_pools(*pool_ids), key=lambda zone: zone['name']):
        print(zone['name'], zone['serial'])


def ns(zone, *hosts):
    found = call('GET', '/zones/%s/recordsets?type=NS&name=%s.' % (find(zone)['id'], zone))['recordsets']
    return expect('NS records of ' + zone, sorted(found[0]['records']), sorted(hosts))


def delete(zone):
    call('DELETE', '/zones/' + find(zone)['id'])


def state(zone, status, action='NONE'):
    now = find(zone)
    return expect(zone, (now['status'], now['action']), (status, action))


def in_pool(zone, pool_id):
    return expect(zone, find(zone)['pool_id'], pool_id)


def expect(what, got, want):
    if got != want:
        print('%s: got %s, want %s' % (what, got, want), file=sys.stderr)
    return 0 if got == want else 1


COMMANDS = {'create': create, 'populate': populate, 'change': change, 'delete': delete, 'state': state,
            'in-pool': in_pool, 'active': active, 'serials': serials, 'ns': ns, 'knows': knows, 'lacks': lacks}

try:
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
except (RuntimeError, OSError, KeyError, TypeError, ValueError) as error:
    print('%s: %r' % (sys.argv[1:], error), file=sys.stderr)
    sys.exit(2)
