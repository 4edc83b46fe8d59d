import { connect, type Socket } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, type TestService, TestSocket, TOKEN, withTokens } from '../service/harness.js';

// Tests of publishers with an unfinished message. uWebSockets.js does not report these messages, so the service bounds the
// connections of a token that can hold one.

const KIB = 1024;
const MIB = 1024 * KIB;
/** The default of `publish_connections_per_token`. */
const PUBLISHERS = 16;

/** A connection that never reads, and therefore answers no pings. */
class Deaf {
  readonly socket: Socket;
  isClosed = false;

  private constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket
      .on('error', () => undefined)
      .on('close', () => {
        this.isClosed = true;
      });
    const lines = [
      'Host: test',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    ];
    lines.push('Sec-WebSocket-Version: 13', `Authorization: Basic ${TOKEN}`);
    this.socket.write(`GET /evm/publish HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  static async open({ port }: TestService): Promise<Deaf> {
    const deaf = new Deaf(port);
    await new Promise((resolve) => deaf.socket.once('data', resolve));
    return deaf;
  }

  /** Sends a frame with a mask of zeros, or only the first `sent` bytes of the frame. */
  send(text: string, sent = text.length): void {
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x81ff);
    head.writeBigUInt64BE(BigInt(text.length), 2);
    this.socket.write(Buffer.concat([head, Buffer.from(text.slice(0, sent))]));
  }
}

for (const threads of [1, 2])
  test(`${threads} thread(s): a token has at most its connections of publishers, each with one unfinished message`, async (t) => {
    const service = await startTestService({ ...withTokens('other'), listen: { port: 0, threads } });
    t.teardown(() => service.stop());
    const other = await Feed.open(service, { token: 'other' });
    const attackers = await Promise.all(Array.from({ length: PUBLISHERS }, () => Deaf.open(service)));
    const open = () => TestSocket.open(`${service.socketUrl}/evm/publish`);
    const refusal = /^429 .*the token has publish_connections_per_token \(16\) connections of publishers/;
    await t.rejects(open(), refusal);
    for (const attacker of attackers) attacker.send('x'.repeat(2 * MIB), 2 * MIB - 1);
    await other.accept({ symbol: 'BTCUSD', price: units(1) });
    const reader = await TestSocket.open(`${service.socketUrl}/ws`);
    t.equal(
      attackers.filter(({ isClosed }) => isClosed).length,
      0,
      'a publisher is not closed for its silence',
    );
    attackers.pop()!.socket.destroy();
    const last = await eventually(() => open().catch(() => undefined));
    await last.close();
    for (const { socket } of attackers) socket.destroy();
    await reader.close();
    await other.socket.close();
  });

test('a message of more than twice the limit ends the connection before it is there', async (t) => {
  const service = await startTestService({ limits: { publish_message_bytes: '64 KiB' } });
  t.teardown(() => service.stop());
  const within = await Deaf.open(service);
  within.send('x'.repeat(128 * KIB), 1);
  const over = await Deaf.open(service);
  over.send('x'.repeat(128 * KIB + 1), 1);
  await eventually(() => over.isClosed);
  t.notOk(within.isClosed);
  within.socket.destroy();
});
