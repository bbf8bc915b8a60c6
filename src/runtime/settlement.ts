import type { Registry } from './registry.ts'
import { type MetricNumber, onceEach, registerNumbers, type Sources } from './sampled-metrics.ts'

/**
 * The state of settlement for operators. Queue, cursor, lanes, parts and attention are the same from every worker;
 * nodes are the worker's own view.
 */
export type SettlementSources = Sources<
  | 'queue'
  | 'cursor'
  | 'lanes'
  | 'parts'
  | 'attention'
  | 'treasuries'
  | 'gas'
  | 'nodes'
  | 'calls'
  | 'quorum'
  | 'float'
  | 'exposures'
  | 'refills'
  | 'results'
>

const NUMBERS: Readonly<Record<string, MetricNumber<keyof SettlementSources>>> = {
  pinrail_payouts: {
    from: 'queue',
    value: 'count',
    help: 'Payouts that have not ended.',
    labels: ['state', 'reason'],
  },
  pinrail_payouts_usdc: {
    from: 'queue',
    value: 'usdc',
    help: 'Their amount, in USDC.',
    labels: ['state', 'reason'],
  },
  pinrail_payouts_oldest_seconds: {
    from: 'queue',
    value: 'oldest_seconds',
    help: 'Age of the one that was queued first.',
    labels: ['state', 'reason'],
  },
  pinrail_cursor_block: {
    from: 'cursor',
    value: 'block',
    help: 'The final block to which the chain was read.',
    labels: [],
  },
  pinrail_cursor_age_seconds: {
    from: 'cursor',
    value: 'age_seconds',
    help: 'Time since the cursor moved.',
    labels: [],
  },
  pinrail_cursor_lag_blocks: {
    from: 'cursor',
    value: 'lag_blocks',
    help: 'Blocks between the cursor and the newest block that a quorum has reported to this worker.',
    labels: [],
  },
  pinrail_cursor_deposits_behind_blocks: {
    from: 'cursor',
    value: 'deposits_behind',
    help: 'Final blocks that were read for payouts, and not yet for transfers to deposit addresses.',
    labels: [],
  },
  pinrail_settlement_paused: {
    from: 'cursor',
    value: 'paused',
    help: '1 while signing and sending are paused.',
    labels: [],
  },
  pinrail_lane: {
    from: 'lanes',
    value: 'one',
    help: '1 for the state that the lane is in: open, paused_gas or quarantined.',
    labels: ['wallet', 'status'],
  },
  pinrail_lane_open: {
    from: 'lanes',
    value: 'open',
    help: 'Transactions of the lane that are not final.',
    labels: ['wallet'],
  },
  pinrail_lane_unmined_seconds: {
    from: 'lanes',
    value: 'unmined_seconds',
    help: 'How long the oldest of them has been in no block; 0 when none is.',
    labels: ['wallet'],
  },
  pinrail_settlement_part_failing_seconds: {
    from: 'parts',
    value: 'failing_seconds',
    help: 'How long the part of settlement has failed or rested, by cause; 0: its last round succeeded.',
    labels: ['part', 'cause'],
  },
  pinrail_settlement_attention: {
    from: 'attention',
    value: 'count',
    help: 'What of settlement waits for an operator, or fails and is tried again, by kind.',
    labels: ['kind'],
  },
  pinrail_settlement_attention_oldest_seconds: {
    from: 'attention',
    value: 'oldest_seconds',
    help: 'Age of what has waited longest, by kind.',
    labels: ['kind'],
  },
  pinrail_treasury_usdc: {
    from: 'treasuries',
    value: 'usdc',
    help: 'USDC of the treasuries; new payouts are paid by the one with the role `current`.',
    labels: ['wallet', 'role'],
  },
  pinrail_gas_pol: {
    from: 'gas',
    value: 'pol',
    help: 'POL of the wallets that send: relayers, and the one that funds them.',
    labels: ['wallet', 'role'],
  },
  pinrail_node: {
    from: 'nodes',
    value: 'one',
    help: '1 for the state that the node is in: good, doubtful, resting or left_out.',
    labels: ['node', 'state'],
  },
  pinrail_node_head: {
    from: 'nodes',
    value: 'head',
    help: 'The newest block that the node has reported.',
    labels: ['node'],
  },
  pinrail_node_latency_seconds: {
    from: 'nodes',
    value: 'latency_seconds',
    help: 'How long its answers take, smoothed.',
    labels: ['node'],
  },
  pinrail_node_failures_total: {
    from: 'nodes',
    value: 'failures',
    help: 'Calls that it did not answer.',
    labels: ['node'],
    counts: true,
  },
  pinrail_node_wrong_total: {
    from: 'nodes',
    value: 'wrong',
    help: 'Answers of a wrong shape, or against which a quorum voted.',
    labels: ['node'],
    counts: true,
  },
  pinrail_node_calls_total: {
    from: 'calls',
    value: 'count',
    help: 'Calls to the node, by method.',
    labels: ['node', 'method'],
    counts: true,
  },
  pinrail_nodes_spare: {
    from: 'quorum',
    value: 'spare',
    help: 'Nodes that may fail before there is no quorum; less than 0: there is none.',
    labels: [],
  },
  pinrail_float_usdc: {
    from: 'float',
    value: 'usdc',
    help: 'USDC of the treasuries that no merchant is owed. No series without the float converter.',
    labels: [],
  },
  pinrail_float_reserve_usdc: {
    from: 'float',
    value: 'reserve_usdc',
    help: 'What conversions leave of it: those that would take of it wait.',
    labels: [],
  },
  pinrail_conversions_waiting_usdc: {
    from: 'float',
    value: 'waiting_usdc',
    help: 'USDC of the conversions that are not filled.',
    labels: [],
  },
  pinrail_exposure: {
    from: 'exposures',
    value: 'amount',
    help: 'Money at partners that the platform has paid USDC for and no refill has taken, in the currency.',
    labels: ['currency'],
  },
  pinrail_exposure_usdc: {
    from: 'exposures',
    value: 'cost_usdc',
    help: 'The USDC that the platform has given for it, at the locked rates.',
    labels: ['currency'],
  },
  pinrail_refill_open_seconds: {
    from: 'refills',
    value: 'open_seconds',
    help: 'Age of the open refill of the currency.',
    labels: ['currency', 'partner'],
  },
  pinrail_refill_stuck: {
    from: 'refills',
    value: 'stuck',
    help: '1 if the partner must act before the open refill of the currency brings anything.',
    labels: ['currency', 'partner'],
  },
  pinrail_refill_gain_usdc: {
    from: 'results',
    value: 'gain_usdc',
    help: 'What the market moved between conversions and refills of the last 30 days; less than 0: a loss.',
    labels: ['currency'],
  },
  pinrail_refill_spread_usdc: {
    from: 'results',
    value: 'spread_usdc',
    help: 'What these refills brought less than the market’s rate gave, partners’ fees included.',
    labels: ['currency'],
  },
}

/** Reads the state on each request for metrics; balances at most twice a minute. */
export function watchSettlement(registry: Registry, sources: SettlementSources): void {
  registerNumbers(registry, onceEach(sources), NUMBERS)
}
