import { test } from 'tap';
import { type PingRequest, pongText, readRequest } from '../../src/stream/request.js';

const NOT_JSON = 'the message is not JSON such as {"type":"subscribe","assets":[1]}';
const NO_IDS = 'assets is not an array of integer asset IDs: /v1/taxonomy has the ID of each symbol';

test('a request is read with each asset once', async (t) => {
  t.same(readRequest('{"type":"subscribe","assets":[3,1,3]}'), {
    type: 'subscribe',
    assets: [3, 1],
    ignoreInvalid: false,
    id: undefined,
  });
  t.same(readRequest('{"type":"unsubscribe","assets":[],"id":"x","ignore_invalid":true,"more":1}'), {
    type: 'unsubscribe',
    assets: [],
    ignoreInvalid: true,
    id: '"x"',
  });
});

test('a ping needs no assets, and its id comes back', async (t) => {
  const ping = readRequest('{"type":"ping"}');
  t.same(ping, { type: 'ping', id: undefined });
  t.equal(pongText(ping as PingRequest), '{"type":"pong"}');
  t.match(readRequest('{"type":"ping","id":[]}'), { error: /^id is not/ });
});

test('an error names the field, and repeats the id if there is one', async (t) => {
  const errors: [string, string, unknown?][] = [
    ['', NOT_JSON],
    ['[]', 'the message is not a JSON object such as {"type":"subscribe","assets":[1]}'],
    ['{"type":"Subscribe","id":5}', 'type is not "subscribe" or "unsubscribe" or "ping"', '5'],
    ['{"type":"subscribe","id":"a"}', NO_IDS, '"a"'],
    ['{"type":"subscribe","assets":["1"]}', NO_IDS],
    ['{"type":"subscribe","assets":[1.5]}', NO_IDS],
    ['{"type":"subscribe","assets":[1e999]}', NO_IDS],
    ['{"type":"subscribe","assets":[],"ignore_invalid":1}', 'ignore_invalid is not true or false'],
    ['{"type":"subscribe","assets":[],"id":{}}', 'id is not a number or a string of at most 256 characters'],
  ];
  for (const [text, error, id] of errors) t.same(readRequest(text), { error, id }, text);
});
