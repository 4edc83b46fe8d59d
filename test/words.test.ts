import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import ts from 'typescript';
import { ROOT } from './pages.js';

// Tests of the rule of the first word: a comment on a thing begins with its noun, and a comment on a function begins with its
// verb.

/** First words that delay the noun or the verb. */
const OPENER = /^\W*(?:what|who|whom|whose|which|whether|of|by|it|they|one)\b/i;

interface Comment {
  /** The file and the line. */
  readonly place: string;
  readonly text: string;
}

/** A second star at the beginning of a comment, which an editor adds when it breaks a comment of one line. */
const DOUBLED_STAR = /^\* \*/;

const COMMENTS = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  filesBelow(folder).flatMap((file) => commentsIn(file)),
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
    'const pattern = /\\/\\/ Of a pattern/; // By the way.',
    '// It begins here.',
    '// They go on.',
    `const template = \`// One \${/* Whose */ pattern} // Which\`;`,
  ].join('\n');
  t.same(commentsOf('a.ts', text), [
    { place: 'a.ts:1', text: 'What first.\n * Who second.' },
    { place: 'a.ts:3', text: 'By the way.' },
    { place: 'a.ts:4', text: 'It begins here.\nThey go on.' },
    { place: 'a.ts:6', text: 'Whose' },
  ]);
});

function placesOf(pattern: RegExp): string[] {
  return COMMENTS.filter(({ text }) => pattern.test(text)).map(
    ({ place, text }) => `${place} ${text.slice(0, 60)}`,
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|sol)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll('\\', '/'))
    .sort();
}

function commentsIn(file: string): Comment[] {
  return commentsOf(file, readFileSync(join(ROOT, file), 'utf8'));
}

/** Returns a file's comments. Lines of `//` that follow each other are one comment. */
function commentsOf(file: string, text: string): Comment[] {
  const comments: Comment[] = [];
  let endBefore = -1;
  for (const { pos, end } of file.endsWith('.sol') ? rangesOfSolidity(text) : rangesOf(file, text)) {
    const raw = text.slice(pos, end);
    const isLine = raw.startsWith('//');
    const content = isLine ? raw.replace(/^\/+\s*/, '') : raw.replace(/^\/\*+\s*|\s*\*+\/$/g, '');
    const before = comments.at(-1);
    if (isLine && before !== undefined && endBefore >= 0 && /^\n[ \t]*$/.test(text.slice(endBefore, pos)))
      comments[comments.length - 1] = { ...before, text: `${before.text}\n${content}` };
    else comments.push({ place: `${file}:${text.slice(0, pos).split('\n').length}`, text: content });
    const line = text.slice(text.lastIndexOf('\n', pos - 1) + 1, pos);
    endBefore = isLine && line.trim() === '' ? end : -1;
  }
  return comments;
}

interface Range {
  readonly pos: number;
  readonly end: number;
}

/** Returns the comments before and after each token. Text in strings, templates and patterns is not a comment. */
function rangesOf(file: string, text: string): Range[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const found = new Map<number, Range>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child);
    if (children.length > 0) return;
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const range of ranges) found.set(range.pos, range);
  };
  visit(source);
  return [...found.values()].sort((one, other) => one.pos - other.pos);
}

function rangesOfSolidity(text: string): Range[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"/g)]
    .filter(([found]) => !found.startsWith('"'))
    .map(({ index, 0: found }) => ({ pos: index, end: index + found.length }));
}
