import { test } from 'tap';
import { BROWSER } from '../../../src/client/connect/platform.js';
import { ClientContext } from '../../../src/client/prices/client_context.js';

test('a service that does not answer is one error until its connection is up again', async (t) => {
  const url = 'http://127.0.0.1:1';
  const context = new ClientContext({ urls: url, signers: 'unchecked' }, BROWSER);
  const errors: string[] = [];
  context.listeners.on('error', ({ message }) => errors.push(message));
  const { onUp, onDown } = context.connectionTo(context.services[0]!);
  const ends = (reason: string, isUp = false) => {
    if (isUp) onUp!();
    onDown!({ reason, final: false });
  };
  ends('nothing listens');
  ends('nothing listens');
  t.same(errors.splice(0), [`${url}: nothing listens`]);
  ends('closed with 1001', true);
  t.same(errors, [], 'the loss of a connection is a state');
  ends('nothing listens again');
  ends('nothing listens again');
  t.same(errors.splice(0), [`${url}: nothing listens again`]);
  onUp!();
  onDown!({ reason: 'closed', final: false });
  onDown!({ reason: 'it is starting', httpStatus: 503, final: false });
  onDown!({ reason: 'closed', final: true });
  t.same(errors, [], 'a service that refuses does answer');
});
