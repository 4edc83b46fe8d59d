import { withoutMark } from '../model/byte_order_mark.js';
import { shownText } from './shown_text.js';
import { type Path, type Problem, readYaml } from './yaml_text.js';

export type { Path, Problem } from './yaml_text.js';

/** A configuration file as plain data, with the place of each value in the text. */
export interface ConfigDocument {
  /** The file's data; `undefined` when the text is not YAML. `problems` then contains the reason. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Returns whether the file has a value at `path`. */
  has(path: Path): boolean;
  /**
   * Returns one line for each problem, in the order of the file: `config.yaml:12:5 assets[0].id: …`. Lines and columns
   * are counted from 1.
   */
  describe(problems: readonly Problem[]): string[];
}

/** Reads YAML 1.2 (core schema, one document). `problems` contains every error of the text. */
export function readDocument(fileText: string, fileName: string): ConfigDocument {
  const text = withoutMark(fileText);
  const { value, problems, locate } = readYaml(text);
  return {
    value,
    problems,
    has: (path) => locate(path).found,
    describe(found) {
      let line = 1;
      let lineStart = 0;
      return found
        .map((problem) => ({ ...problem, offset: problem.offset ?? locate(problem.path).offset }))
        .sort((a, b) => a.offset - b.offset)
        .map(({ path, message, offset }) => {
          for (let end = text.indexOf('\n', lineStart); end !== -1 && end < offset; line++) {
            lineStart = end + 1;
            end = text.indexOf('\n', lineStart);
          }
          const place = `${line}:${offset - lineStart + 1}`;
          return `${fileName}:${place}${path.length > 0 ? ` ${formatPath(path)}` : ''}: ${message}`;
        });
    },
  };
}

function formatPath(path: Path): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const shown = shownText(step);
    return /^[\w-]+$/.test(shown) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
  });
  return steps.join('').replace(/^\./, '');
}
