/** A text in quotes, a sign of the structure, or anything else between these. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Indents JSON. Every digit stays, which parsing and writing again would not keep. */
export function indentJson(text: string): string {
  let depth = 0;
  let written = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  const tokens = text.match(TOKEN) ?? [];
  tokens.forEach((token, i) => {
    const isEmpty = /^[{[]/.test(tokens[i - 1] ?? '') && /^[}\]]/.test(token);
    if (/^[}\]]/.test(token)) {
      depth--;
      if (!isEmpty) written += newLine();
    }
    written += token;
    if (token === ':') written += ' ';
    if (/^[{[]/.test(token)) depth++;
    const isFilled = /^[{[]/.test(token) && !/^[}\]]/.test(tokens[i + 1] ?? '');
    if (token === ',' || isFilled) written += newLine();
  });
  return written;
}
