import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { filesIn } from '../../../scripts/torture/cluster/synced_files.js';
import { LOG_START, type LogPosition, type LogRecord, WrongEnd } from '../../../src/cluster/bus.js';
import { CopyCheck } from '../../../src/cluster/log/copy_check.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { credentialsOf, SHIPPED_ACCOUNTS } from './accounts.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

const RECORDS = 200;

test(
  'a server whose disk flipped a bit is named when it leads the log, and loses the lead',
  needsNatsServer(),
  async (t) => {
    const servers = await natsServers(t, 3, SHIPPED_ACCOUNTS, { syncAlways: true });
    const bus = await natsBus(t, servers.urls, { credentials: credentialsOf(1) });
    const told: (string | undefined)[] = [];
    const check = new CopyCheck({
      servers: bus,
      leads: () => true,
      onChanged: (reason) => told.push(reason),
    });
    const records: LogRecord[] = [];
    const append = async () => {
      const position: LogPosition = records.at(-1) ?? LOG_START;
      const sequence = position.sequence + 1;
      const record = chainedRecord({ epoch: 1, sequence, after: position.id, entries: [] });
      await bus.append(position, record.id, record.bytes).catch((error) => {
        // An earlier call without an answer has appended the same record.
        if (!(error instanceof WrongEnd)) throw error;
      });
      check.applied(record);
      records.push(record);
    };
    while (records.length < RECORDS) await append();
    let nowMs = 0;
    const tick = () => {
      nowMs += 10_000;
      check.tick(nowMs);
    };

    const damaged = Number((await leadOf(bus)).slice(1)) - 1;
    const name = `n${damaged + 1}`;
    await servers.signal(damaged, 'SIGTERM');
    flipBit(servers.storage(damaged));
    await servers.start(damaged);
    await makeLead(bus, name, append);
    const lost = await lostRecords(bus);
    t.equal(lost.length, 1, 'the server leads without the record');

    const reason = await eventually(() => {
      tick();
      return check.reason;
    });
    t.equal(
      reason,
      `NATS server ${name} has lost record ${lost[0]} of the log: see "When a server damages its copy" in CLUSTER.md`,
    );
    await eventually(async () => (await leadOf(bus)) !== name);
    t.same(await lostRecords(bus), [], 'the server that leads now has all records');
    t.equal((await bus.keepLogLeaderApart(Date.now, check.damaged)).logLeader === name, false);
    for (let pass = 0; pass < 10; pass++) {
      tick();
      await leadOf(bus);
    }
    t.same(told, [reason], 'sound servers are not blamed');

    // The steps of CLUSTER.md.
    await servers.signal(damaged, 'SIGKILL');
    for (const file of logFiles(servers.storage(damaged))) rmSync(file);
    await servers.start(damaged);
    await eventually(() => {
      tick();
      return check.reason === undefined;
    });
    // The files show the copy, because a server with a whole copy may lose every election.
    await eventually(async () => {
      await append().catch(() => undefined);
      await pause(100);
      const copy = Buffer.concat(recordFiles(servers.storage(damaged)).map((file) => readFileSync(file)));
      return records.every(({ id, bytes }) => copy.includes(id) && copy.includes(Buffer.from(bytes)));
    });
    t.pass('the new copy is whole');
  },
);

/** Flips a bit in the middle of the file that holds the records of the log. */
function flipBit(dir: string): void {
  const [file] = recordFiles(dir).sort((one, other) => statSync(other).size - statSync(one).size);
  const bytes = readFileSync(file!);
  bytes[bytes.length >> 1]! ^= 4;
  writeFileSync(file!, bytes);
}

/** Returns the files of a server's copy of the log. */
function logFiles(dir: string): string[] {
  return filesIn(dir).filter((file) => file.includes('TS_MAIN_LOG'));
}

/** Returns the files of a server's copy that hold its records. */
function recordFiles(dir: string): string[] {
  return logFiles(dir).filter((file) => file.endsWith('.blk'));
}

async function leadOf(bus: NatsBus): Promise<string> {
  return (await eventually(() => bus.logLead().catch(() => undefined))).server;
}

/**
 * Makes a server lead the log, after it has read all records from the others.
 * @param append appends a record, because a server may read nothing for minutes while the log does not grow
 */
async function makeLead(bus: NatsBus, name: string, append: () => Promise<void>): Promise<void> {
  await eventually(async () => {
    // A server that has only just read the newest record often loses the election, and the next one is seconds later.
    for (let i = 0; i < 10; i++) {
      await append().catch(() => undefined);
      await pause(100);
    }
    if ((await leadOf(bus)) === name) return true;
    await bus.moveLogLead({ has: (server) => server !== name }).catch(() => undefined);
    return false;
  });
}

/** Returns the sequences of the records that the server that leads the log does not have. */
async function lostRecords(bus: NatsBus): Promise<number[]> {
  const lost: number[] = [];
  for (let sequence = 1; sequence <= RECORDS; sequence++)
    if (
      (await eventually(() =>
        bus.leadersRecord(sequence).then(
          (one) => one ?? null,
          () => undefined,
        ),
      )) === null
    )
      lost.push(sequence);
  return lost;
}
