import { test } from 'tap';
import { foreignText, serviceWords, visibleJson, visibleText } from '../../src/wire/foreign_text.js';

/** Characters that move a cursor, end a line, turn text or hide: C0, DEL, C1, bidi controls, zero width, separators, a tag. */
const UNSEEN = [
  '\0', '\t', '\n', '\r', '\x1b', '\x7f', '\x85', '\x9b', '\xad', '\u200b', '\u200e', '\u202e', '\u2028', '\u2029', '\u2066', '\ufeff', '\ud800', '\u{e0041}',
]; // biome-ignore format: a table

test('no character of a foreign text moves a cursor, ends a line, turns text or hides', async (t) => {
  for (const character of UNSEEN) {
    const name = `U+${character.codePointAt(0)!.toString(16)}`;
    for (const shown of [visibleText(character), foreignText(`a${character}b`), serviceWords(character)])
      t.notMatch(shown, /[\p{C}\p{Zl}\p{Zp}]/u, name);
    const json = JSON.stringify({ text: `a${character}b` });
    t.same(JSON.parse(visibleJson(json)), JSON.parse(json), name);
    t.notMatch(visibleJson(json), /[\p{C}\p{Zl}\p{Zp}]/u, name);
  }
});

test('a single word is shown as it is, and any other text in quotes and at most 200 characters', async (t) => {
  for (const word of ['BTCUSD', 'BTC/USD', 'S&P500', '日経', '#1', "it's", 'http://127.0.0.1:8080/v1'])
    t.equal(foreignText(word), word);
  t.equal(foreignText(''), '""');
  t.equal(foreignText('say "yes"'), '"say \\"yes\\""');
  t.equal(foreignText('\x1b[2J'), '"\\u001b[2J"');
  t.equal(foreignText('x'.repeat(10_000)), `${'x'.repeat(200)}…`);
  t.equal(serviceWords('unknown asset'), 'the service says "unknown asset"');
  t.equal(visibleJson('{\n\t"a": 1,\r\n"b": "\u202e"}'), '{  "a": 1,  "b": "\\u202e"}');
});
