import type { Command } from 'commander';
import { test } from 'tap';
import type { CommandStreams } from '../../src/cli/client_command.js';
import { registerExport } from '../../src/cli/export_command.js';
import { registerKeys } from '../../src/cli/keys_command.js';
import { registerLog } from '../../src/cli/log_command.js';
import { registerMcp } from '../../src/cli/mcp_command.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerPublish } from '../../src/cli/publish_command.js';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { runCommand } from './run_command.js';

// Each address, key, address of a service and time on the command line is checked for its form, before anything is asked or verified.

const ADDRESS = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
const STARK_KEY = `0x${'1'.repeat(62)}`;
type Register = (program: Command, streams: CommandStreams) => void;
interface Door {
  readonly register: Register;
  readonly args: readonly string[];
  readonly option: string;
}

/** Names an option of several commands, whose other arguments are right. */
function doors(option: string, ...commands: readonly (readonly [Register, ...string[]])[]): Door[] {
  return commands.map(([register, ...args]) => ({ register, args, option }));
}

const price: [Register, ...string[]] = [registerPrice, 'price', 'A'];
const exported: [Register, ...string[]] = [
  registerExport,
  'export',
  'A',
  '--from',
  '2026-01-01',
  '-o',
  '/nowhere/a.csv',
];
const subscribe: [Register, ...string[]] = [registerSubscribe, 'subscribe', 'A'];
const mcp: [Register, ...string[]] = [registerMcp, 'mcp'];
const publish: [Register, ...string[]] = [registerPublish, 'publish', 'A=1'];
const verify: [Register, ...string[]] = [registerVerify, 'verify', '{}'];
const logVerify: [Register, ...string[]] = [registerLog, 'log', 'verify', '/nowhere'];
const audit: [Register, ...string[]] = [registerLog, 'log', 'audit', '--policy', '/nowhere'];
const announce: [Register, ...string[]] = [
  registerKeys as Register,
  'keys',
  'announce',
  '--chain',
  '/nowhere/c',
];
const revoke: [Register, ...string[]] = [registerKeys as Register, 'keys', 'revoke', '--chain', '/nowhere/c'];

const CUT = [
  '0x7e5f',
  '0x',
  'alice',
  '7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  `${ADDRESS} `,
  `0x${'g'.repeat(40)}`,
  `0x${'1'.repeat(39)}`,
];
const KEYS = [
  ...CUT,
  `${ADDRESS}0`,
  `${ADDRESS}123456789`,
  `0x${'f'.repeat(64)}`,
  `0x${'0'.repeat(64)}`,
  `0x${'1'.repeat(65)}`,
];
const WRONG_CHECKSUM = '0x7e5F4552091A69125d5DfCb7b8C2659029395Bdf';
const URLS = [
  '127.0.0.1:8080',
  'ftp://a.example',
  'ws://user:password@a.example',
  'https://a.example?token=x',
  'https://a.example#x',
  'ws://a.example:99999',
  'http://',
  'http://a b/',
];
const TIMES = ['noon', '1763640000000', '2025-02-30', '2025-11-20T25:00Z', '-1'];

const TABLE: readonly {
  readonly doors: Door[];
  readonly wrong: readonly string[];
  readonly reason: RegExp;
}[] = [
  {
    doors: doors('--signer', price, exported, subscribe, mcp, verify, logVerify),
    wrong: KEYS,
    reason: /neither an address/,
  },
  { doors: doors('', revoke), wrong: KEYS, reason: /neither an address/ },
  {
    doors: doors('--root', [...verify, '--chain', '/nowhere']),
    wrong: [...CUT, STARK_KEY],
    reason: /is not an address/,
  },
  { doors: doors('--next-root', announce), wrong: [...CUT, STARK_KEY], reason: /is not an address/ },
  {
    doors: [...doors('--signer', price, verify), ...doors('--next-root', announce), ...doors('', revoke)],
    wrong: [WRONG_CHECKSUM],
    reason: new RegExp(`checksum .* write ${ADDRESS} or only small letters`),
  },
  {
    doors: doors('--url', price, exported, subscribe, mcp, publish),
    wrong: URLS,
    reason: /expected an address such as/,
  },
  {
    doors: [...doors('--log', verify), ...doors('', audit)],
    wrong: URLS,
    reason: /expected an address such as/,
  },
  {
    doors: [...doors('--at', price), ...doors('--from', [...exported]), ...doors('--to', exported)],
    wrong: TIMES,
    reason: /expected a time/,
  },
  {
    doors: doors('--oracle-id', price, exported, mcp, publish, verify, logVerify),
    wrong: ['abc', 'abcdef', 'abcdé'],
    reason: /expected 5 ASCII/,
  },
  { doors: doors('--service-name', verify), wrong: ['A', 'a b', ''], reason: /expected a word/ },
  {
    doors: doors('--weight', verify),
    wrong: ['0x1=2', `${ADDRESS}=`, `${ADDRESS}=x`],
    reason: /expected 0xKEY=WEIGHT|neither an address/,
  },
  { doors: doors('--taxonomy-id', verify), wrong: ['70000', 'x', '-1'], reason: /expected a uint16/ },
];

process.env['TICKSEAL_TOKEN'] = 'token';

test('a wrong form is refused with its option, before anything is asked', async (t) => {
  for (const { doors: each, wrong, reason } of TABLE)
    for (const { register, args, option } of each)
      for (const value of wrong) {
        const given = option === '' ? ['--', value] : [`${option}=${value}`];
        const problems: string[] = [];
        const listening: Register = (program, streams) =>
          register(program.configureOutput({ writeErr: (text) => problems.push(text) }), streams);
        const { exitCode, stderr, stdout } = await runCommand(listening, [...args, ...given]);
        const said = problems.join('') + stderr;
        const name = `${args.slice(0, 2).join(' ')} ${given.join(' ')}`;
        t.same([exitCode, stdout], [1, []], name);
        t.match(said, reason, name);
        if (option !== '') t.match(said, option, name);
      }
});

test('right forms of keys pass', async (t) => {
  for (const key of [ADDRESS, ADDRESS.toLowerCase(), `0x${ADDRESS.slice(2).toUpperCase()}`, STARK_KEY]) {
    const { stderr } = await runCommand(registerVerify, ['verify', '{}', '--signer', key]);
    t.equal(stderr, '', key);
  }
});
