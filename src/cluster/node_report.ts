import { Builder } from 'flatbuffers';
import type { Signer } from '../model/node_list.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import {
  NodeReport as NodeReportTable,
  Role as RoleCode,
  Signer as SignerTable,
  Signs,
} from './generated/wire.js';
import { WIRE_VERSION } from './log/log_batch.js';
import { countInside, exactNumber, fieldInside, readMessage, UnreadableMessage } from './unreadable.js';

/** What a node is just now: a leader makes prices, a standby could, an edge never does. */
export type Role = 'edge' | 'standby' | 'leader';

/** What a node says of itself about once a second. */
export interface NodeReport {
  readonly wireVersion: number;
  /** 1 .. `NODE_MAX` */
  readonly node: number;
  readonly name: string;
  /** Which process of the node. */
  readonly run: string;
  readonly role: Role;
  /** The sequence of the last record of the log that it has. */
  readonly applied: number;
  readonly configHash: Uint8Array;
  /** Its keys. */
  readonly signers: readonly Signer[];
  /** It makes prices or could, and its clock is right. */
  readonly isFit: boolean;
}

const ROLES: Readonly<Record<Role, RoleCode>> = {
  edge: RoleCode.Edge,
  standby: RoleCode.Standby,
  leader: RoleCode.Leader,
};
const ROLE_NAMES = ['edge', 'standby', 'leader'] as const satisfies readonly Role[];

/** Scratch space, empty between calls. */
const builder = new Builder(512);

export function encodeNodeReport(report: Omit<NodeReport, 'wireVersion'>): Uint8Array {
  builder.clear();
  const signersAt = NodeReportTable.createSignersVector(builder, report.signers.map(buildSigner));
  const hashAt = builder.createByteVector(report.configHash);
  const runAt = builder.createString(report.run);
  const nameAt = builder.createString(report.name);
  NodeReportTable.startNodeReport(builder);
  NodeReportTable.addWireVersion(builder, WIRE_VERSION);
  NodeReportTable.addNode(builder, report.node);
  NodeReportTable.addName(builder, nameAt);
  NodeReportTable.addRun(builder, runAt);
  NodeReportTable.addRole(builder, ROLES[report.role]);
  NodeReportTable.addApplied(builder, BigInt(report.applied));
  NodeReportTable.addConfigHash(builder, hashAt);
  NodeReportTable.addSigners(builder, signersAt);
  NodeReportTable.addFit(builder, report.isFit);
  builder.finish(NodeReportTable.endNodeReport(builder));
  return new Uint8Array(builder.asUint8Array());
}

/** Reads what {@link encodeNodeReport} wrote, in this version or a later one. @throws UnreadableMessage */
export function decodeNodeReport(bytes: Uint8Array): NodeReport {
  return readMessage('report of a node', bytes, (buffer) => {
    const table = NodeReportTable.getRootAsNodeReport(buffer);
    const signerCount = countInside(buffer, table.signersLength(), 4);
    return {
      wireVersion: table.wireVersion(),
      node: table.node(),
      name: table.name() ?? '',
      run: table.run() ?? '',
      role: ROLE_NAMES[table.role()] ?? 'edge',
      applied: exactNumber(table.applied()),
      // It outlives the message.
      configHash: new Uint8Array(fieldInside(buffer, table.configHashArray())),
      signers: Array.from({ length: signerCount }, (_, i) => readSigner(table.signers(i)!)),
      isFit: table.fit(),
    };
  });
}

function buildSigner({ address, signatureType, role, sinceS }: Signer): number {
  const addressAt = builder.createString(address);
  const signs = role === 'aggregate' ? Signs.Aggregates : Signs.Streams;
  const type = SIGNATURE_TYPES.indexOf(signatureType);
  return SignerTable.createSigner(builder, addressAt, type, signs, BigInt(sinceS));
}

function readSigner(table: SignerTable): Signer {
  const address = table.address();
  const signatureType = SIGNATURE_TYPES[table.signature()];
  if (address === null || signatureType === undefined)
    throw new UnreadableMessage('a key lacks its address or type');
  return {
    address,
    signatureType,
    role: table.signs() === Signs.Streams ? 'stream' : 'aggregate',
    sinceS: exactNumber(table.sinceS()),
  };
}
