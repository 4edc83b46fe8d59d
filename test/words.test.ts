import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import ts from 'typescript';
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

const SLASHES = new Set([ts.SyntaxKind.SlashToken, ts.SyntaxKind.SlashEqualsToken]);
/** The tokens that a division may follow. After other tokens, a slash begins a pattern. */
const VALUE_ENDS = new Set([
  ts.SyntaxKind.Identifier,
  ts.SyntaxKind.PrivateIdentifier,
  ts.SyntaxKind.ThisKeyword,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.BigIntLiteral,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.CloseParenToken,
  ts.SyntaxKind.CloseBracketToken,
  ts.SyntaxKind.CloseBraceToken,
]);
const POSTFIXES = new Set([
  ts.SyntaxKind.ExclamationToken,
  ts.SyntaxKind.PlusPlusToken,
  ts.SyntaxKind.MinusMinusToken,
]);

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

function commentsIn(file: string): Comment[] {
  return commentsOf(file, readFileSync(join(ROOT, file), 'utf8'));
}

/** Returns a file's comments. Lines of `//` that follow each other are one comment. */
function commentsOf(file: string, text: string): Comment[] {
  const comments: Comment[] = [];
  let endBefore = -1;
  let line = 1;
  let countedTo = 0;
  for (const { pos, end } of file.endsWith('.sol') ? rangesOfSolidity(text) : rangesOf(text)) {
    const raw = text.slice(pos, end);
    line += text.slice(countedTo, pos).split('\n').length - 1;
    countedTo = pos;
    const isLine = raw.startsWith('//');
    const content = isLine ? raw.replace(/^\/+\s*/, '') : raw.replace(/^\/\*+\s*|\s*\*+\/$/g, '');
    const before = comments.at(-1);
    if (isLine && before !== undefined && endBefore >= 0 && /^\n[ \t]*$/.test(text.slice(endBefore, pos)))
      comments[comments.length - 1] = { ...before, text: `${before.text}\n${content}` };
    else comments.push({ place: `${file}:${line}`, text: content });
    const indent = text.slice(text.lastIndexOf('\n', pos - 1) + 1, pos);
    endBefore = isLine && indent.trim() === '' ? end : -1;
  }
  return comments;
}

interface Range {
  readonly pos: number;
  readonly end: number;
}

/**
 * Returns the comments among the tokens. Text in strings, templates and patterns is not a comment. Only tokens are read, because parsing
 * the files takes eight times as long.
 */
function rangesOf(text: string): Range[] {
  const scanner = ts.createScanner(ts.ScriptTarget.ES2023, false, ts.LanguageVariant.Standard, text);
  const found: Range[] = [];
  /** The open braces. True for a brace that ends with the next part of a template. */
  const braces: boolean[] = [];
  let isAfterValue = false;
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind <= ts.SyntaxKind.LastTriviaToken) {
      if (kind <= ts.SyntaxKind.MultiLineCommentTrivia)
        found.push({ pos: scanner.getTokenStart(), end: scanner.getTokenEnd() });
      continue;
    }
    if (SLASHES.has(kind) && !isAfterValue) kind = scanner.reScanSlashToken();
    if (kind === ts.SyntaxKind.CloseBraceToken && braces.pop() === true)
      kind = scanner.reScanTemplateToken(false);
    if (kind === ts.SyntaxKind.TemplateHead || kind === ts.SyntaxKind.TemplateMiddle) braces.push(true);
    if (kind === ts.SyntaxKind.OpenBraceToken) braces.push(false);
    isAfterValue = VALUE_ENDS.has(kind) || (isAfterValue && POSTFIXES.has(kind));
  }
  return found;
}

function rangesOfSolidity(text: string): Range[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"/g)]
    .filter(([found]) => !found.startsWith('"'))
    .map(({ index, 0: found }) => ({ pos: index, end: index + found.length }));
}
