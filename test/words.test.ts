import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { filesBelow, ROOT } from './pages.js';

// Tests of the first word of comments: a comment on a thing begins with its noun, and a comment on a function begins with its
// verb.

/** First words of a comment, or of a paragraph in it, that delay the noun or the verb. */
const OPENER = /(?:^|\n[ \t]*\*?[ \t]*\n)\W*(?:what|who|whom|whose|which|whether|of|by|it|they|one)\b/i;

interface Comment {
  /** The file and the line. */
  readonly place: string;
  readonly text: string;
}

/** A second star at the beginning of a comment, which an editor adds when it breaks a comment of one line. */
const DOUBLED_STAR = /^\* \*/;

/** A block, or lines of `//` that follow each other, at the beginning of a line. */
const COMMENT = /^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*)/gm;

const COMMENTS = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  filesBelow(folder, /\.(?:ts|sol)$/).flatMap((file) => commentsIn(file)),
);

test('comments begin with a noun or a verb', async (t) => {
  t.ok(COMMENTS.length > 1000, 'comments are found');
  t.same(placesOf(OPENER), []);
});

test('no comment begins with two stars', async (t) => {
  t.same(placesOf(DOUBLED_STAR), []);
});

test('comments are found as they are written', async (t) => {
  const text = [
    '/** What first.',
    ' * Who second. */',
    '  // It begins here.',
    '  // They go on.',
    'const a = 1;',
  ].join('\n');
  t.same(commentsOf('a.ts', text), [
    { place: 'a.ts:1', text: 'What first.\n * Who second.' },
    { place: 'a.ts:3', text: 'It begins here.\nThey go on.' },
  ]);
});

function placesOf(pattern: RegExp): string[] {
  return COMMENTS.filter(({ text }) => pattern.test(text)).map(
    ({ place, text }) => `${place} ${text.slice(0, 60)}`,
  );
}

function commentsIn(file: string): Comment[] {
  return commentsOf(file, readFileSync(join(ROOT, file), 'utf8'));
}

/** Returns a file's comments that begin a line. */
function commentsOf(file: string, text: string): Comment[] {
  return [...text.matchAll(COMMENT)].map(({ 0: raw, index }) => ({
    place: `${file}:${text.slice(0, index).split('\n').length}`,
    text: raw.trimStart().startsWith('/*')
      ? raw.replace(/^\s*\/\*+\s*|\s*\*+\/$/g, '')
      : raw.replaceAll(/^\s*\/+\s*/gm, ''),
  }));
}
