import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';
import type { Abi } from 'viem';
import { ROOT } from '../../pages.js';

// Compiles contracts: those of `src/client/solidity`, and those of packages that import from `node_modules`.

/** The version of the EVM. All existing chains know the instructions of this version. */
const EVM_VERSION = 'paris';
const FOLDERS = ['src/client/solidity', 'node_modules'];
/** The folder of the contracts in the client's package. */
const PACKAGED = 'tickseal-client/contracts/';

/** The warning about a contract that no chain deploys. Contracts of tests may be such contracts. */
const CODE_TOO_LONG = '5574';

export interface Built {
  readonly abi: Abi;
  readonly bytecode: `0x${string}`;
}

export interface BuildOptions {
  /** The text of the file, if the file does not exist. */
  readonly text?: string;
  /** The addresses of libraries that contracts call, by file and name. */
  readonly libraries?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Compiles a file and returns one of its contracts.
 * @param file the path in `src/client/solidity` or in `node_modules`
 * @throws Error with the compiler's messages about files of this project, if any, and with errors about other files
 */
export function build(
  file: string,
  contract = nameOf(file),
  { text, libraries = {} }: BuildOptions = {},
): Built {
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: text ?? contentOf(file) } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: EVM_VERSION,
      libraries,
      outputSelection: { [file]: { [contract]: ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path: string) => {
        const contents = contentOf(path);
        return contents === undefined ? { error: 'it is not there' } : { contents };
      },
    }),
  );
  const messages: CompilerMessage[] = output.errors ?? [];
  const faults = messages.filter(
    ({ severity, errorCode, sourceLocation }) =>
      severity === 'error' ||
      !(sourceLocation?.file.startsWith('@') || (errorCode === CODE_TOO_LONG && file.endsWith('.t.sol'))),
  );
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const { abi, evm } = output.contracts[file][contract];
  return { abi, bytecode: `0x${evm.bytecode.object}` };
}

interface CompilerMessage {
  readonly severity: string;
  readonly errorCode: string;
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
}

function contentOf(file: string): string | undefined {
  const path = FOLDERS.map((folder) => join(ROOT, folder, file.replace(PACKAGED, ''))).find((found) =>
    existsSync(found),
  );
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

/** Returns the contract after which a file is named. */
function nameOf(file: string): string {
  return file.split('/').at(-1)!.replace('.sol', '');
}
