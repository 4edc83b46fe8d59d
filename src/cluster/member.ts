import type { NodeRole } from '../model/node_list.js';
import type { LogPosition } from './bus.js';
import { Claimant } from './leading/claimant.js';
import { type LeaderHost, Leadership } from './leading/leadership.js';
import { SilenceWatch } from './leading/silence_watch.js';
import type { Term } from './leading/term.js';
import type { Claim, LogBatch } from './log/log_batch.js';
import { LogFollower } from './log/log_follower.js';
import type { MemberOptions } from './member_options.js';
import { NodePresence } from './node_presence.js';
import type { OwnReport } from './node_report.js';
import { TickReceiver } from './ticks/tick_receiver.js';

/** A node of a cluster. The node follows the log and claims the lead when no node leads. */
export class ClusterMember {
  readonly #options: MemberOptions;
  readonly #follower: LogFollower;
  readonly #claimant: Claimant;
  readonly #receiver: TickReceiver;
  readonly #leadership: Leadership;
  readonly #silence: SilenceWatch;
  readonly nodes: NodePresence;
  /** The last applied claim; `undefined` if it was applied before this process began. Then the leader's report has the same facts. */
  #claimed: Claim | undefined;
  #epoch = 0;
  #isLed = false;
  #claimCount = 0;
  #isLeaving = false;
  #isStopped = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    const { bus, host, timing, nowMs, defer, taxonomy, refuseIds, node, role, run } = options;
    this.#silence = new SilenceWatch({
      bus,
      timing,
      nowMs,
      applied: () => this.#follower,
      others: () => this.nodes,
      claimingMs: () => this.#claimant.claimingMs,
      tickMs: () => (this.term === undefined ? this.#receiver.tickMs : undefined),
    });
    const { received } = this.#silence;
    const report = () => this.#report();
    this.nodes = new NodePresence({ bus, self: { node, role }, run, report, received, timing, nowMs });
    this.#follower = new LogFollower({
      bus,
      timing,
      nowMs,
      position: options.applied,
      reportedEnd: () => this.nodes.appliedMax,
      apply: (batch, position) => this.#apply(batch, position),
      caughtUp: () => host.caughtUp(),
      missing: (firstSequence) => {
        this.#receiver.recordsMissing();
        host.missing(firstSequence);
      },
      broken: (reason) => this.#fail(reason),
      faulty: (fault, reason) => host.faulty(fault, reason),
      restored: options.role === 'edge' ? undefined : (count) => host.restored(count),
    });
    this.#receiver = new TickReceiver({
      bus,
      prices: host.prices,
      taxonomy,
      refuseIds,
      timing,
      nowMs,
      received,
      overtaken: () => void this.#follower.catchUp(),
    });
    this.#claimant = new Claimant({
      bus,
      timing,
      nowMs,
      follower: this.#follower,
      claim: () => this.#nextClaim(false),
      rank: () => this.nodes.rank(),
      tickMs: () => this.#receiver.tickMs,
    });
    this.#leadership = new Leadership({
      bus,
      timing,
      nowMs,
      defer,
      taxonomy,
      host: this.#leaderHost,
      follower: this.#follower,
      resignation: () => this.#nextClaim(true),
      shown: this.#receiver,
    });
  }

  /** Starts to follow the log and to listen to the other nodes. */
  start(): void {
    this.#receiver.start();
    this.#follower.start();
    this.nodes.start();
  }

  /** Stops immediately. A leader should resign before it stops. */
  stop(): void {
    this.#isStopped = true;
    this.#receiver.stop();
    this.#follower.stop();
    this.nodes.stop();
    this.#leadership.end('the node stops');
  }

  get role(): NodeRole {
    if (this.term !== undefined) return 'leader';
    return this.#options.role === 'edge' ? 'edge' : 'standby';
  }

  /** The newest known epoch; 0 before the first epoch. */
  get epoch(): number {
    return this.#epoch;
  }

  /** The epoch of the leader according to the applied records; `undefined` when the leader has resigned, and before the first record. */
  get ledEpoch(): number | undefined {
    return this.#isLed ? this.#epoch : undefined;
  }

  /**
   * The leader according to the applied records; `undefined` when the leader has resigned or is unknown. The facts come from the leader's
   * last report, because the claim has the configuration from before the last reload.
   */
  get leader(): Pick<Claim, 'node' | 'name' | 'configHash'> | undefined {
    if (!this.#isLed) return undefined;
    const claimed = this.#claimed;
    const reported = this.nodes
      .present()
      .find(({ role, node, run }) =>
        claimed === undefined ? role === 'leader' : node === claimed.node && run === claimed.run,
      );
    return reported ?? claimed;
  }

  /** The current term, if this node leads. */
  get term(): Term | undefined {
    return this.#leadership.term;
  }

  get applied(): LogPosition {
    return this.#follower.position;
  }

  /** The progress in applying the log. */
  get log(): Pick<LogFollower, 'lag' | 'appliedMs' | 'skippedCount'> {
    return this.#follower;
  }

  /** The state of the prices received from the leader, while another node leads. */
  get ticks(): Pick<TickReceiver, 'tickMs' | 'gaps' | 'idsRefusal'> {
    return this.#receiver;
  }

  /** The number of this node's writes that were refused or whose outcome is unknown. */
  get refusedWrites(): number {
    return this.#leadership.failedWrites;
  }

  /** The number of ignored messages that no correct node or server sends. */
  get refusedMessages(): number {
    return this.#options.bus.refusedMessages + this.nodes.refused;
  }

  /** True when this node has applied the log to its end and has all prices. */
  get isReady(): boolean {
    return this.#follower.isCaughtUp && this.#receiver.isComplete;
  }

  /**
   * Hands the lead to another node before a planned shutdown. Writes all remaining entries, then a resignation. Resolves when the log has
   * the resignation, when another node leads, or when a lease has passed. The node does not claim the lead again.
   */
  resign(reason = 'the node ends'): Promise<void> {
    this.#isLeaving = true;
    return this.#leadership.resign(reason);
  }

  /**
   * Notes that the node's configuration has changed. The node immediately sends its new configuration to the other nodes, and reports again
   * which assets have a price from the leader.
   */
  reloaded(): void {
    this.nodes.changed();
    this.#receiver.tellAll();
  }

  tick(): void {
    if (this.#isStopped) return;
    const nowMs = this.#options.nowMs();
    this.#follower.tick(nowMs);
    this.#leadership.tick(nowMs);
    if (this.#mayClaim) this.#claimant.tick(nowMs);
    this.#receiver.tick(nowMs);
    this.nodes.tick(nowMs);
    this.#silence.tick(nowMs);
  }

  /** Returns the time at which the node next needs {@link tick}. */
  nextDueMs(): number {
    if (this.#isStopped) return Number.POSITIVE_INFINITY;
    return Math.min(
      this.#follower.nextDueMs(),
      this.#leadership.nextDueMs(),
      this.#receiver.nextDueMs(),
      this.#mayClaim ? this.#claimant.nextDueMs() : Number.POSITIVE_INFINITY,
      this.nodes.nextDueMs(),
      this.#silence.nextDueMs(),
    );
  }

  get #mayClaim(): boolean {
    return this.role === 'standby' && !this.#leadership.isResigning && !this.#isLeaving && this.#mayLead;
  }

  get #mayLead(): boolean {
    const { host } = this.#options;
    return host.healthy() && (host.clockIsRight() !== false || !this.nodes.hasOtherFit);
  }

  /** The callbacks of the host, plus this node's own actions at the beginning and end of a term. */
  get #leaderHost(): LeaderHost {
    const { host } = this.#options;
    return {
      lead: (term) => {
        this.#receiver.lead(term.epoch);
        return host.lead(term);
      },
      stepDown: (reason) => {
        this.#receiver.stepDown();
        host.stepDown(reason);
      },
      healthy: () => this.#mayLead,
    };
  }

  #nextClaim(resign: boolean): Claim {
    const { node, name, run, configHash } = this.#options;
    return { node, name, run, attempt: ++this.#claimCount, configHash: configHash(), resign };
  }

  /** Applies a record. The node that made the last applied claim leads. */
  #apply(batch: LogBatch, position: LogPosition): void {
    const { epoch, claim } = batch;
    this.#silence.applied(claim !== undefined);
    this.#epoch = epoch;
    this.#isLed = claim?.resign !== true;
    if (claim !== undefined && !claim.resign) {
      this.#leadership.end(`node ${claim.node} leads`);
      this.#claimed = claim;
      this.#claimant.claimed();
    }
    this.#receiver.began(epoch, position.sequence);
    this.#options.host.apply(batch, position);
    this.#leadership.applied(position);
    if (claim?.resign) this.#leaderResigned(claim);
    else if (claim?.run === this.#options.run && !this.#isStopped) this.#beginTerm(epoch, position.id);
  }

  #beginTerm(epoch: number, claimId: string): void {
    this.#leadership.begin(epoch, this.#claimant.sentMsOf(claimId));
    if (this.#isLeaving) void this.#leadership.resign('the node ends');
  }

  #leaderResigned({ run }: Claim): void {
    if (run === this.#options.run) this.#leadership.resigned();
    else {
      this.#claimant.resigned();
      // This node may now be first in line to claim.
      this.#options.defer(() => this.tick());
    }
  }

  #fail(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    // No more messages will report changes of these prices, so all prices end.
    this.#receiver.clear();
    this.#options.host.fatal(reason);
  }

  #report(): OwnReport {
    const { name, run, role, host, configHash, signers, streamLog } = this.#options;
    const log = streamLog?.();
    return {
      name,
      run,
      role: this.role,
      applied: this.applied.sequence,
      configHash: configHash(),
      signers: signers(),
      ...(log && { streamLog: { origin: log.origin, vkey: log.vkey } }),
      isFit: role === 'aggregator' && !this.#isLeaving && host.healthy() && host.clockIsRight() === true,
    };
  }
}
