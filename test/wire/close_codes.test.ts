import { test } from 'tap';
import { CLIENT_CLOSE_CODE, CLOSES, type Close, mayReconnect } from '../../src/wire/close_codes.js';

const closes = Object.values<Close>(CLOSES);

test('code and reason say whether to connect again', async (t) => {
  for (const { code, reason, reconnect } of closes) {
    t.equal(mayReconnect(code, reason), reconnect, reason);
    t.equal(mayReconnect(code, `closed with ${code} (${reason})`), reconnect, reason);
  }
  const final = [1003, 1008, 4401];
  for (const code of [CLIENT_CLOSE_CODE, 1001, 1003, 1005, 1006, 1008, 1011, 1013, 4000, 4401])
    t.equal(mayReconnect(code, 'a reason of another service'), !final.includes(code), String(code));
  t.ok(mayReconnect(1008, 'nothing whole was received within the idle timeout'));
  t.notOk(mayReconnect(1008, 'too many bad messages'));
});

test('a close frame holds the reason, and codes are ones that a service may send', async (t) => {
  t.equal(new Set(closes.map(({ code, reason }) => `${code} ${reason}`)).size, closes.length);
  for (const { code, reason } of closes) {
    t.ok(Buffer.byteLength(reason) <= 123, reason);
    t.ok([1001, 1003, 1008, 1013].includes(code) || (code >= 4000 && code <= 4999), String(code));
  }
});
