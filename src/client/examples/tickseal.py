"""Reads prices of a tickseal service, and verifies the signature of each.

    tickseal.py stream BTCUSD '#2' --attributes ms,quality
    tickseal.py range BTCUSD --minutes 60 --every 1m
    tickseal.py verify <payloads        (one in each line)

The environment names the service: TICKSEAL_URL, TICKSEAL_TOKEN, and SIGNER, the addresses whose signatures count, with commas. Get the
addresses from the operator, not from the service. A program imports `Service`. Prices are exact decimals, times are integers: UNIX
nanoseconds. Needs websockets, coincurve and pycryptodome, and pandas for ranges.
"""
import argparse, itertools, json, os, random, struct, sys, time
from collections import namedtuple
from decimal import Decimal
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from coincurve import PublicKey
from Crypto.Hash import keccak
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import connect

AGE_NS_MAX = 10_000_000_000
LINE_BYTES_MAX = 16 * 1024**2
FRAME_BYTES_MAX = 8 * 1024**2
TIMEOUT_S, DELAY_S_MAX = 10, 30
BUSY, TOKEN_REVOKED = (429, 503), 4401
HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
# Attributes by bit of the mask: the name, and the form of the bytes.
ATTRIBUTES = {1: ('ms', 'B'), 2: ('age', 'I'), 3: ('n', 'B'), 4: ('spread', 'I')}

Tick = namedtuple('Tick', 'symbol time_ns price attributes')


class Refused(Exception):
    """A refusal that a new connection does not change, such as an unknown token."""


class Unverified(Exception):
    """Data that no signer has signed, or that is not what was asked for."""


class OtherTaxonomy(Unverified):
    """A payload of another taxonomy than the one that was read."""


class NoRedirects(HTTPRedirectHandler):
    """Keeps the token at the address that the user named."""

    def redirect_request(self, *_):
        return None


def keccak256(data):
    return keccak.new(digest_bits=256, data=data).digest()


def address_of(signature, digest):
    """Returns the address that made a signature: r, s and a v of 0 or 1, 65 bytes."""
    if int.from_bytes(signature[32:64], 'big') > HALF_ORDER or signature[64] > 1:
        raise Unverified('a high s, or a v that is not 0 or 1')
    key = PublicKey.from_signature_and_message(signature, digest, hasher=None).format(compressed=False)
    return '0x' + keccak256(key[1:])[12:].hex()


def plain(words):
    """Returns foreign words without characters that a terminal obeys."""
    return ascii(str(words))[:200]


def decimal_of(price):
    """Returns an integer times 10^-18, exact: arithmetic would round to the 28 digits of the context."""
    return Decimal(f'{price}E-18')


class Service:
    """A service at a url such as https://prices.example.com. Only signatures of the signers' addresses count."""

    def __init__(self, url, token, signers):
        self.url = url.rstrip('/')
        self.login = {'Authorization': f'Basic {token}'}
        self.signers = {signer.strip().lower() for signer in signers}
        self.http = build_opener(NoRedirects)
        self.taxonomy_id, self.assets = None, []

    def stream(self, names, channel='1s', attributes=''):
        """Yields verified ticks of symbols, or of IDs such as '#2'. Connects again after a loss, for ever.

        @param attributes names with commas: ms, age, n, spread, quality
        @raise Refused, Unverified
        """
        query = {'channel': channel, 'message_type': 'signed_ecdsa', 'addtl_attrs': attributes}
        url = f"{self.url.replace('http', 'ws', 1)}/ws?{query_of(query)}"
        delay_s, newest_ns = 0.25, 0
        while True:
            try:
                self.read_taxonomy()
                ids = [self.id_of(name) for name in names]
                with connect(url, additional_headers=self.login, max_size=FRAME_BYTES_MAX, compression=None) as socket:
                    socket.send(json.dumps({'type': 'subscribe', 'assets': ids}))
                    while True:
                        for tick in self.ticks_of(socket.recv(), ids):
                            if tick.time_ns >= newest_ns:
                                delay_s, newest_ns = 0.25, tick.time_ns
                                yield tick
            except InvalidStatus as error:
                status, body = error.response.status_code, error.response.body or b''
                if status < 500 and status not in BUSY:
                    raise Refused(f'{status}: {plain(body.decode(errors="replace"))}') from None
                reason = f'HTTP {status}'
            except ConnectionClosed as error:
                if error.rcvd is not None and error.rcvd.code == TOKEN_REVOKED:
                    raise Refused('the token was revoked') from None
                reason = error
            except (InvalidHandshake, OtherTaxonomy, OSError) as error:
                reason = error
            print(f'{self.url}: {plain(reason)}; connecting again', file=sys.stderr, flush=True)
            time.sleep(delay_s * random.uniform(0.5, 1))
            delay_s = min(2 * delay_s, DELAY_S_MAX)

    def range(self, name, from_ns, to_ns, every=None):
        """Returns a pandas frame of the signed prices with from_ns <= signed_ns < to_ns, each verified.

        @param every only the last price of each interval, such as '1s'
        @return columns: symbol, price (Decimal), signed_ns and timestamp_ns (int64: the times of the signature and of the newest input)
        @raise Refused, also when a part of the past is not kept; Unverified
        """
        import pandas

        self.read_taxonomy()
        symbol, kind = self.assets[self.id_of(name)]
        if kind != 'evm':
            raise Refused(f'{name}: this program verifies no Stark prices')
        query = {'asset': symbol, 'from': from_ns, 'to': to_ns, 'detail': 'signature', 'signature_type': kind, 'every': every}
        path, rows = f'/v1/prices/range?{query_of(query)}', []
        while path is not None:
            known = len(rows)
            with self.get(path) as answer:
                for line in iter(lambda: answer.readline(LINE_BYTES_MAX), b''):
                    row = self.aggregate_of(json.loads(line), symbol)
                    if not (rows[-1][2] + 1 if rows else from_ns) <= row[2] < to_ns:
                        raise Unverified(f'a price of {row[2]} is not in its place in the range')
                    rows.append(row)
                path = next_path(answer.headers.get('Link', ''))
            if path is not None and len(rows) == known:
                raise Unverified('an answer without prices that names a next one')
        frame = pandas.DataFrame(rows, columns=['symbol', 'price', 'signed_ns', 'timestamp_ns'])
        return frame.astype({'price': object, 'signed_ns': 'int64', 'timestamp_ns': 'int64'})

    def ticks_of(self, text, ids):
        """Returns the ticks of a message of `/ws`."""
        frame = json.loads(text)
        if frame['type'] == 'error':
            raise Refused(f"the service says {plain(frame['error'])}")
        return [tick for id, tick in self.verify(frame.get('p')) if id in ids]

    def verify(self, payload, age_ns_max=AGE_NS_MAX):
        """Returns pairs of ID and tick if a signer signed the payload at most age_ns_max ago: recorded frames have valid signatures too."""
        body = self.signed_body(payload)
        mask, body = (int.from_bytes(body[2:4], 'big'), body[4:]) if body[:2] == b'\xff\x02' else (1, body)
        taxonomy_id, time_ns = struct.unpack_from('>HQ', body)
        if taxonomy_id != self.taxonomy_id:
            raise OtherTaxonomy('another taxonomy')
        if abs(time.time_ns() - time_ns) > age_ns_max:
            raise Unverified('too old, or this clock is wrong')
        names, forms = zip(*(ATTRIBUTES[bit] for bit in ATTRIBUTES if mask >> bit & 1)) if mask & 0x1E else ((), ())
        layout = '>HqQ' + ''.join(forms)
        if mask >> 5 or mask & 1 == 0 or (len(body) - 10) % struct.calcsize(layout) != 0:
            raise Unverified('no payload of this layout')
        entries = struct.iter_unpack(layout, body[10:])
        return [
            (id, Tick(self.assets[id][0], time_ns, decimal_of((high << 64) + low), dict(zip(names, values))))
            for id, high, low, *values in entries
            if id in self.assets
        ]

    def read_taxonomy(self):
        """Reads the symbols of the streaming IDs, as a signer has signed them."""
        with self.get('/v1/taxonomy') as answer:
            taxonomy = json.loads(answer.read(LINE_BYTES_MAX))['data']
        self.taxonomy_id = self.check_meaning(taxonomy.get('statement'), taxonomy['assets'])
        self.assets = {asset['asset_id']: (asset['name'], asset['signature_type']) for asset in taxonomy['assets']}

    def check_meaning(self, statement, assets):
        """Returns the taxonomy ID under which a signer signed what these IDs mean."""
        body = self.signed_body(statement, b'\xfftickseal-taxonomy/v1')
        known = sorted((a['asset_id'], a['signature_type'] == 'stark', a['name'].encode()) for a in assets)
        entries = b''.join(struct.pack('>HBH', id, stark, len(name)) + name for id, stark, name in known)
        if body[10:] != struct.pack('>I', len(known)) + keccak256(entries):
            raise Unverified('unsigned mapping: no statement fits these streaming IDs')
        return int.from_bytes(body[:2], 'big')

    def signed_body(self, text, prefix=b''):
        """Returns the bytes that a signer signed: of a payload or, with its prefix, of a statement."""
        try:
            data = bytes.fromhex((text or '').removeprefix('0x'))
        except ValueError:
            data = b''
        if len(data) < 75:
            raise Unverified(f'not signed: {plain(text)}')
        self.require_signer(address_of(data[:65], keccak256(prefix + data[65:])))
        return data[65:]

    def require_signer(self, address):
        if address not in self.signers:
            raise Unverified(f"signed by {address}, not by {', '.join(self.signers)}")

    def id_of(self, name):
        """Returns the ID of a symbol, or of '#' and an ID. A symbol that has both types means its EVM asset."""
        wanted = [id for id, (symbol, kind) in sorted(self.assets.items(), key=lambda entry: entry[1][1]) if name in (symbol, f'#{id}')]
        if not wanted:
            raise Refused(f'{name}: the service has no such asset; /v1/taxonomy lists them')
        return wanted[0]

    def aggregate_of(self, aggregate, symbol):
        """Returns the row of a signed price, if a signer signed it for the symbol."""
        signed = next(value for name, value in aggregate.items() if name.endswith('_signed_price'))
        stamped, signature = signed['timestamped_signature'], signed['timestamped_signature']['signature']
        number = lambda text: int(text, 16).to_bytes(32, 'big')
        price, signed_ns = int(signed['price']), int(stamped['timestamp'])
        root, checksum = signed['publisher_merkle_root'], signed['calculation_alg']['checksum']
        hashed = b''.join((
            bytes.fromhex(signed['public_key'].removeprefix('0x')), keccak256(symbol.encode()), signed_ns.to_bytes(32, 'big'),
            price.to_bytes(32, 'big', signed=True), number(root), number(checksum),
        ))
        digest = keccak256(b'\x19Ethereum Signed Message:\n32' + keccak256(hashed))
        v = int(signature['v'], 16)
        address = address_of(number(signature['r']) + number(signature['s']) + bytes([v - 27 if v >= 27 else v]), digest)
        self.require_signer(address)
        if price != int(aggregate['price']) or aggregate['asset_id'] != symbol:
            raise Unverified(f'a price that is not the signed one: {plain(aggregate)}')
        return symbol, decimal_of(price), signed_ns, int(aggregate['timestamp'])

    def get(self, path):
        """Returns an open answer. Waits while the service is busy."""
        for attempt in itertools.count():
            try:
                return self.http.open(Request(urljoin(self.url, path), headers=self.login), timeout=TIMEOUT_S)
            except HTTPError as error:
                if error.code not in BUSY or attempt == 5:
                    kind = ConnectionError if error.code in BUSY or error.code >= 500 else Refused
                    raise kind(f'{error.code}: {plain(error.read(1000).decode(errors="replace"))}') from None
                time.sleep(min(float(error.headers.get('Retry-After', 1)), DELAY_S_MAX))


def query_of(values):
    return urlencode({name: value for name, value in values.items() if value})


def next_path(link):
    """Returns the path of the next answer that a header names; None without one."""
    return urlsplit(link[link.index('<') + 1 : link.index('>')])._replace(scheme='', netloc='').geturl() if 'rel="next"' in link else None


def line_of(tick):
    """Returns a line for people; `:f` writes every decimal."""
    age_ms = (time.time_ns() - tick.time_ns) // 1_000_000
    values = ''.join(f' {name}={value}' for name, value in tick.attributes.items())
    return f'{tick.symbol} {tick.price:f} verified, {age_ms} ms old{values}'


def main():
    parser = argparse.ArgumentParser(prog='tickseal.py', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    stream = commands.add_parser('stream', help='print prices as they come')
    stream.add_argument('names', nargs='+', help="symbols, or IDs such as '#2'")
    stream.add_argument('--channel', default='1s')
    stream.add_argument('--attributes', default='')
    past = commands.add_parser('range', help='print signed prices of the last minutes')
    past.add_argument('name')
    past.add_argument('--minutes', type=int, default=1)
    past.add_argument('--every', help='only the last price of each interval, such as 1s')
    commands.add_parser('verify', help='verify payloads, one in each line of standard input')
    options = parser.parse_args()
    missing = [name for name in ('TICKSEAL_URL', 'TICKSEAL_TOKEN', 'SIGNER') if not os.environ.get(name)]
    if missing:
        parser.error(f"set {' and '.join(missing)} in the environment")
    service = Service(os.environ['TICKSEAL_URL'], os.environ['TICKSEAL_TOKEN'], os.environ['SIGNER'].split(','))
    if options.command == 'stream':
        for tick in service.stream(options.names, options.channel, options.attributes):
            print(line_of(tick), flush=True)
    elif options.command == 'range':
        now_ns = time.time_ns()
        print(service.range(options.name, now_ns - options.minutes * 60_000_000_000, now_ns, options.every).to_string())
    else:
        service.read_taxonomy()
        for line in sys.stdin:
            for _, tick in service.verify(line.strip()):
                print(line_of(tick), flush=True)


if __name__ == '__main__':
    try:
        main()
    except (Refused, Unverified, OSError, ValueError) as error:
        sys.exit(f"{os.environ.get('TICKSEAL_URL')}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
