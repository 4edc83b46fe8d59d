import { z } from 'zod';
import { NODE_MAX } from '../../model/node_list.js';
import { hex, serviceSigner } from './value_schemas.js';

const nodeNumber = z.int().min(0).max(NODE_MAX).describe('0 for a process that is alone');

const nodeSigner = serviceSigner
  .extend({
    node: nodeNumber,
    since: z.int().describe('UNIX seconds: since when the node has the key'),
    state: z
      .enum(['present', 'next', 'former'])
      .meta({ title: 'KeyState', description: 'Whether the key signs now, will sign, or has signed' }),
    from: z
      .int()
      .optional()
      .describe('UNIX seconds: the first that the key signs; absent without a beginning'),
    until: z.int().optional().describe('UNIX seconds: when the next key takes over; absent without an end'),
  })
  .meta({ id: 'NodeSigner' });

export const nodeSigners = z.array(nodeSigner);

export const publicLog = z
  .strictObject({
    origin: z.string().describe('The name of the log: its address without scheme'),
    vkey: z.string().describe('The verifier key of C2SP signed-note'),
    policy: z.string().describe('The log, its witnesses and their quorum: a file of C2SP tlog-policy'),
    max_delay: z.int().describe('Seconds: the longest time until a checkpoint covers a signature'),
  })
  .meta({ id: 'PublicLog', description: 'A public log' });

const nodeLog = z
  .strictObject({
    node: nodeNumber,
    origin: publicLog.shape.origin,
    vkey: publicLog.shape.vkey,
  })
  .meta({ id: 'NodeLogKey', description: "A node's log of streaming payloads" });

/** The whole answer. The list stays under `data`, because earlier versions had only this list. */
export const signersAnswer = z.strictObject({
  data: nodeSigners,
  announcements: z
    .array(hex)
    .describe('The chain of announcements of these keys, oldest first, for readers that pin a root key'),
  log: publicLog.describe('The log of signed prices; absent when there is none').optional(),
  stream_log: publicLog
    .describe('The log of the streaming payloads that this node signs; absent when there is none')
    .optional(),
  stream_logs: z
    .array(nodeLog)
    .describe('The logs of the streaming payloads that each node signs; absent when there is none')
    .optional(),
});

export const nodesStatus = z
  .strictObject({
    self: nodeNumber.describe('The node that answers'),
    nodes: z.array(
      z.strictObject({
        node: nodeNumber,
        name: z.string(),
        role: z.enum(['leader', 'standby', 'edge']).meta({
          title: 'NodeRole',
          description:
            'The leader makes prices, a standby takes over when it fails, an edge only serves them',
        }),
      }),
    ),
  })
  .meta({ id: 'Nodes' });
