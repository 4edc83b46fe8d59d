import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** A loaded program. */
export interface LoadedProgram<Exports> {
  readonly exports: Exports;
  /**
   * Stores the compiled code of all functions that have run, for the next start. Does nothing if the program was loaded with stored code,
   * if V8's flags have changed since then, or if the folder does not permit it.
   */
  readonly storeCode: () => void;
}

/**
 * Loads a program in CommonJS without `import()`, with the compiled code that an earlier start has stored. If no such code can be used, V8 compiles the program.
 * Node 20 stores no compiled code itself. Later versions store it only when a process ends by itself.
 * @param program the path of the program
 * @param folder the folder for compiled code
 */
export function loadProgram<Exports>(program: string, folder: string): LoadedProgram<Exports> {
  const source = readFileSync(program);
  const versionTag = cachedDataVersionTag();
  const file = new CodeFile(join(folder, `${basename(program)}-${versionTag}`), program, crc32(source));
  const cachedData = file.read();
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: program,
    ...(cachedData && { cachedData }),
  });
  const module = { exports: {} as Exports };
  script.runInThisContext()(module.exports, createRequire(program), module, program, dirname(program));
  const isStored = cachedData !== undefined && script.cachedDataRejected !== true;
  const storeCode = () => {
    if (!isStored && cachedDataVersionTag() === versionTag) file.write(() => script.createCachedData());
  };
  return { exports: module.exports, storeCode };
}

/** The bytes of the checksum, which precedes the code. */
const SUM_BYTES = 4;

/**
 * A file with the compiled code of a program. V8 accepts code from the same version of V8 with the same flags, but compares only the length
 * of the source. So a checksum covers the source and the code.
 */
class CodeFile {
  readonly #path: string;
  readonly #program: string;
  readonly #sourceSum: number;

  constructor(path: string, program: string, sourceSum: number) {
    this.#path = path;
    this.#program = program;
    this.#sourceSum = sourceSum;
  }

  /** Returns the code; `undefined` if the file is missing, damaged, of another source, or if another user could have written it. */
  read(): Buffer | undefined {
    let descriptor: number | undefined;
    try {
      if (!this.#isOurs(statSync(dirname(this.#path)))) return undefined;
      descriptor = openSync(this.#path, 'r');
      if (!this.#isOurs(fstatSync(descriptor))) return undefined;
      const bytes = readFileSync(descriptor);
      const code = bytes.subarray(SUM_BYTES);
      return bytes.readUInt32BE() === this.#sumWith(code) ? code : undefined;
    } catch {
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /** Replaces the file. If that is impossible, the file stays as it is, and the function does not call `createCode`. */
  write(createCode: () => Buffer): void {
    const temporary = `${this.#path}.${process.pid}`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o755 });
      if (!this.#isOurs(statSync(dirname(this.#path)))) return;
      rmSync(temporary, { force: true });
      const descriptor = openSync(temporary, 'wx', 0o644);
      try {
        const code = createCode();
        const sum = Buffer.alloc(SUM_BYTES);
        sum.writeUInt32BE(this.#sumWith(code));
        writeSync(descriptor, Buffer.concat([sum, code]));
        renameSync(temporary, this.#path);
      } finally {
        closeSync(descriptor);
        rmSync(temporary, { force: true });
      }
    } catch {
      // The next start compiles the program again.
    }
  }

  #sumWith(code: Buffer): number {
    return crc32(code, this.#sourceSum);
  }

  /** Returns true if only this user and the owner of the program can change the file or folder: code in it runs with our rights. */
  #isOurs({ uid, mode }: Stats): boolean {
    const owners = [process.geteuid?.(), statSync(this.#program).uid];
    return owners.includes(uid) && (mode & 0o022) === 0;
  }
}
