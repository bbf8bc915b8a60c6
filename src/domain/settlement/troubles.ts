import { formatAmount, formatUsdc, type Money } from '../money.ts'
import { plural } from '../plural.ts'
import { getFailure, type Part, type PartStanding, type RestCause } from './part.ts'
import { ABANDONED, MISSING_PAUSE, REVERSAL_PAUSE } from './payout.ts'
import type { Standing, Trouble } from './standing.ts'

/** Causes that keep money from moving, or will: each check finds one cause and names what to do about it. */

/** A final block comes every few seconds, and an idle engine reads every five. */
const STUCK_SECONDS = 120
/** By then a transaction at the price of its time should be in a block. */
const UNMINED_SECONDS = 300
/** About ten minutes of Polygon: both cursors move in the same round. */
const DEPOSITS_BLOCKS = 300

/** Actions for a pause whose reason begins with this text. */
const PAUSE_ACTS: readonly (readonly [beginning: string, todo: string])[] = [
  [
    MISSING_PAUSE,
    'If it has just begun, wait a minute: the transfer is named here when its block is final. Otherwise compare the transfers of the treasury in an explorer with `treasury_log`. If the nodes withhold a transfer, name others in POLYGON_RPC_URLS: the pause ends when the transfer is booked. If you know where the USDC went, run `pinrail settlement acknowledge balance`. If you do not, the key is stolen: rotate the treasury without the old key, move the USDC to the new one, run `pinrail settlement take-over <old treasury>`, then acknowledge the balance.',
  ],
  [
    REVERSAL_PAUSE,
    'Stop the workers, then run `pinrail settlement repair-finality --dry-run`, which names the payouts that are to be paid again. If they are what you expect, run it without --dry-run, then start the workers.',
  ],
]

/** Returns what to do about the transfer that the reason names. The list of troubles shows all unknown transfers. */
function transferAct(reason: string): string {
  const [, treasury = '<old treasury>'] = / from (0x\w{40}) /.exec(reason) ?? []
  const [, hash = '<tx hash>'] = / in (0x\w{64})/.exec(reason) ?? []
  return (
    `Find out who sent it. If it was you, run \`pinrail settlement acknowledge ${hash}\`. If it was not, the key is stolen: ` +
    `rotate the treasury without the old key, move the USDC to the new one, run \`pinrail settlement take-over ${treasury}\`, ` +
    'then acknowledge the theft. Each unknown_transfer in the list below needs its own `acknowledge`.'
  )
}

export function findTroubles(standing: Standing): Trouble[] {
  const checks = [
    findPause,
    findAttended,
    findTakeOvers,
    findSilentNodes,
    findStuckReading,
    findFailingParts,
    findLateDeposits,
    findStoppedLanes,
    findLowTreasuries,
    findDailyLimit,
    findUnmined,
    findStoppedPayouts,
    findUncompared,
    findLowFloat,
    findRefills,
  ]
  return checks.flatMap((check) => check(standing))
}

function findPause({ cursor }: Standing): Trouble[] {
  if (cursor === null || cursor.pausedReason === null) return []
  const { pausedReason: reason } = cursor
  const what = `signing and sending are paused, because ${reason}`
  const [, todo] = PAUSE_ACTS.find(([beginning]) => reason.startsWith(beginning)) ?? ['', transferAct(reason)]
  return [{ kind: 'paused', stops: true, what, todo }]
}

function findStuckReading({ cursor, chain, parts }: Standing): Trouble[] {
  const failure = parts.find(({ part }) => part === 'observing')
  const why = failure === undefined ? null : getFailure(failure)
  if (cursor === null)
    return [
      {
        kind: 'unread',
        stops: true,
        what: `no worker has read the chain yet${why === null ? '' : `: ${why}`}`,
        todo:
          why === null
            ? 'Start a worker. If it does not start, its log has the reason.'
            : 'The worker gets this from the nodes in its own POLYGON_RPC_URLS: correct that. The nodes below have answered this command. The worker tries to start again every few seconds.',
      },
    ]
  if (cursor.ageSeconds < STUCK_SECONDS) return []
  const age = ageText(cursor.ageSeconds)
  const since = `the chain was read to block ${cursor.number} ${age} ago, and no further`
  if (!cursor.isObserved)
    return [
      {
        kind: 'no_worker',
        stops: true,
        what: `no worker is running: ${since}`,
        todo: 'Start a worker. If one is running, its log has the reason why settlement is not.',
      },
    ]
  if (chain.final !== null && chain.final <= cursor.number)
    return [
      {
        kind: 'not_final',
        stops: true,
        what: `the chain has finalized no block for ${age}: the last one is ${cursor.number}${newestText(chain)}`,
        todo: 'Wait: the finality of the chain itself stalls, which no restart of workers and no other node changes. Payouts settle when blocks are final again.',
      },
    ]
  const todo =
    chain.final === null
      ? 'Fix the nodes: the list below shows what each of them returns.'
      : why === null
        ? 'Read the worker’s log: it names the blocks that it could not read.'
        : 'Correct that: the worker tries again every few seconds.'
  return [{ kind: 'cursor_stuck', stops: true, what: `${since}${why === null ? '' : `: ${why}`}`, todo }]
}

function newestText({ nodes }: Standing['chain']): string {
  const newest = Math.max(...nodes.map(({ head }) => head ?? 0))
  return newest === 0 ? '' : `, its newest block is ${newest}`
}

/** One failed round can be a busy node. */
const FAILING_SECONDS = 30

const WAITS: Readonly<Record<Part, readonly string[]>> = {
  observing: ['queued', 'authorized', 'assigned', 'broadcast', 'mined', 'stopped', 'voiding'],
  deposits: [],
  signing: ['queued', 'stopped'],
  sending: ['queued', 'authorized', 'assigned', 'broadcast', 'stopped'],
}

const REST_TODO: Readonly<Record<RestCause, string>> = {
  token_paused:
    'Wait: Circle has paused USDC for everybody. Payouts continue within a minute after the pause has ended.',
  treasury_blacklisted:
    'Ask Circle why the treasury is on the blacklist. Payouts continue within a minute after it is off the list. USDC in it cannot be moved: do not send more. If it stays on the list, append a new treasury, leave the key of the old one out of the workers, fund the new one, and run `pinrail settlement take-over <old treasury>`: payouts then move within 55 minutes.',
  treasury_delegated:
    'If you signed the delegation, revoke it: payouts continue within a minute. If not, the key is stolen: rotate the treasury without the old key, move the USDC to the new one, and run `pinrail settlement take-over <old treasury>`.',
  gas_above_cap:
    'Wait until gas is cheaper: payouts continue automatically. To pay the price of now, raise MAX_FEE_GWEI and restart the workers.',
}

const FAILING_TODO: Readonly<Record<Part, string>> = {
  observing: 'Correct that: no payout settles until then. The worker tries again every few seconds.',
  deposits: 'Correct that: what buyers send in USDC is seen late. The worker tries again every few seconds.',
  signing:
    'Make the key service of the treasury answer (TREASURY_KEY): check its status, its quota, and that the worker may use the key. If a node (rpc1, …) is named, fix the node. Payouts continue automatically.',
  sending:
    'If a node (rpc1, …) is named, fix the node. If a key is named, check the keys of RELAYER_KEYS. Payouts continue automatically.',
}

/**
 * Reports each cause once, although several parts rest for it. A stuck cursor or a missing quorum has its own report.
 */
function findFailingParts({ parts, queue, cursor, chain }: Standing): Trouble[] {
  const isStuck = cursor === null || cursor.ageSeconds >= STUCK_SECONDS
  const found = parts.flatMap((standing): Trouble[] => {
    const { part, cause, failingSeconds: age, succeededSeconds: succeeded } = standing
    const why = getFailure(standing)
    if (why === null || age === null) return []
    // A part that has succeeded since fails only for some payouts: another treasury still pays.
    const fails = succeeded === null || succeeded > age
    const stops = fails && part !== 'deposits' && queue.every(({ state }) => WAITS[part].includes(state))
    if (cause !== null)
      return [{ kind: cause, stops, what: `payouts have waited for ${ageText(age)}: ${why}`, todo: REST_TODO[cause] }]
    if (age < FAILING_SECONDS || chain.final === null || (part === 'observing' && isStuck)) return []
    return [
      { kind: 'part_fails', stops, what: `${part} has failed for ${ageText(age)}: ${why}`, todo: FAILING_TODO[part] },
    ]
  })
  return found.filter(
    ({ kind }, at) => kind === 'part_fails' || found.findIndex((earlier) => earlier.kind === kind) === at,
  )
}

/** A comparison is recorded once a minute. */
const COMPARED_SECONDS = 600

function findUncompared({ cursor }: Standing): Trouble[] {
  if (cursor === null || cursor.comparedSeconds < COMPARED_SECONDS || cursor.ageSeconds >= STUCK_SECONDS) return []
  return [
    {
      kind: 'uncompared',
      stops: false,
      what: `the treasury has not been compared with the books for ${ageText(cursor.comparedSeconds)}, so a theft may be unseen`,
      todo: 'The nodes do not give the state of the last final block. Name nodes in POLYGON_RPC_URLS that keep it for 128 blocks.',
    },
  ]
}

const isResting = (parts: readonly PartStanding[], cause: RestCause): boolean =>
  parts.some((standing) => standing.cause === cause && getFailure(standing) !== null)

function findLateDeposits({ cursor }: Standing): Trouble[] {
  if (cursor === null || cursor.depositsBehind <= DEPOSITS_BLOCKS) return []
  return [
    {
      kind: 'deposits_behind',
      stops: false,
      what: `deposits in USDC are seen late: deposit addresses were read to block ${cursor.number - cursor.depositsBehind}, payouts to ${cursor.number}`,
      todo: 'Check that the workers have CRYPTO_DEPOSITS and DEPOSIT_SEED. If they do, the nodes do not respond or agree: see the list below. After a long stop the workers catch up automatically.',
    },
  ]
}

function findSilentNodes({ chain }: Standing): Trouble[] {
  const silent = chain.nodes.filter(({ head }) => head === null)
  const names = silent.map(({ name, why }) => (why === null ? name : `${name} (${why})`)).join(', ')
  if (chain.final === null) {
    const named = chain.nodes.flatMap(({ name, final }) => (final === null ? [] : `${name} names ${final}`)).join(', ')
    return [
      {
        kind: 'no_quorum',
        stops: true,
        what: `fewer than ${chain.quorum} of ${chain.nodes.length} nodes agree on a final block: ${names === '' ? named : `no answer from ${names}`}`,
        todo: 'Read what the nodes answer: rpc2 is the second address in POLYGON_RPC_URLS. If they refuse (a key, a plan, requests in batches), ask their provider, or name other nodes in POLYGON_RPC_URLS and restart the workers. Never lower FINALITY_QUORUM.',
      },
    ]
  }
  if (silent.length === 0) return []
  return [
    {
      kind: 'node',
      stops: false,
      what: `no answer from ${names}`,
      todo: 'A quorum is left. Bring the node back before a second one fails.',
    },
  ]
}

function findStoppedLanes({ lanes, cursor }: Standing): Trouble[] {
  const carriers = lanes.filter(({ isFunding }) => !isFunding)
  const usable = carriers.filter(({ status }) => status === 'open')
  const quarantined = lanes.filter(({ status }) => status === 'quarantined')
  const broke = lanes.filter(({ status }) => status === 'paused_gas')
  const stops = usable.length === 0
  const none: Trouble[] =
    carriers.length === 0 && cursor !== null
      ? [
          {
            kind: 'no_lane',
            stops: true,
            what: 'no lane has been opened yet',
            todo: 'A worker opens its lanes when it starts. If it does not, its log has the reason.',
          },
        ]
      : []
  return [
    ...none,
    ...quarantined.map(
      ({ wallet, reason }): Trouble => ({
        kind: 'lane_quarantined',
        stops,
        what: `lane ${wallet} is quarantined: ${reason ?? 'no reason is stored'}`,
        todo:
          reason === ABANDONED
            ? `Remove its key from RELAYER_KEYS: ten minutes after that it is not shown any more.`
            : `Find out who used its key. If it was you, run \`pinrail settlement reopen ${wallet}\`. If it was not, the key is stolen: it moves no USDC, only the lane’s gas money. Run \`pinrail settlement abandon-lane ${wallet}\`, put a new key into RELAYER_KEYS, and restart the workers.`,
      }),
    ),
    ...broke.map(
      ({ wallet, reason, isFunding }): Trouble => ({
        kind: 'no_gas',
        stops: stops && !isFunding,
        what: `lane ${wallet} has too little gas money${reason === null ? '' : ` (${reason})`}`,
        todo: isFunding
          ? `Send POL to ${wallet}: it supplies the other lanes with gas money.`
          : `Send POL to ${wallet}. If GAS_FUNDING_KEY is set, check that the funding wallet has POL.`,
      }),
    ),
  ]
}

/** A treasury that a part names, or from which USDC is missing, pays nothing: no one should send it more. */
function findLowTreasuries({ queue, wanting, chain, parts, cursor }: Standing): Trouble[] {
  if (typeof cursor?.pausedReason === 'string') return []
  const failures = parts.map((part) => getFailure(part) ?? '').join()
  const stops = queue.every(({ state }) => state === 'stopped')
  return [...new Set(wanting.map(({ treasury }) => treasury))].flatMap((wallet): Trouble[] => {
    const own = wanting.filter(({ treasury }) => treasury === wallet)
    const needed = own.reduce((sum, { micro }) => sum + BigInt(micro), 0n)
    const has = chain.treasuries.find((treasury) => treasury.wallet === wallet)?.micro ?? null
    if (failures.includes(wallet) || (!own.some(({ state }) => state === 'stopped') && (has === null || has >= needed)))
      return []
    const balance = has === null ? 'too little USDC' : `${formatUsdc(String(has))} USDC`
    const least = has === null || has >= needed ? '' : `at least ${formatUsdc(String(needed - has))} `
    return [
      {
        kind: 'treasury_low',
        stops,
        what: `the treasury has ${balance}, and payouts of ${formatUsdc(String(needed))} USDC wait for it`,
        todo: `Send ${least}USDC to the treasury ${wallet}. Payouts that wait for funds continue automatically.`,
      },
    ]
  })
}

function findDailyLimit({ queue }: Standing): Trouble[] {
  const waiting = queue.filter(({ state, reason }) => state === 'stopped' && reason === 'limit')
  return waiting.map(({ count, micro }) => ({
    kind: 'daily_limit',
    stops: queue.every(({ state }) => state === 'stopped'),
    what: `the treasury has signed as much as it may in 24 hours (PAYOUT_MAX_USDC_PER_DAY), and ${payoutsText(count)} of ${formatUsdc(micro)} USDC ${count === 1 ? 'waits' : 'wait'}`,
    todo: 'Find out first whether so much was to be paid. If it was, raise PAYOUT_MAX_USDC_PER_DAY and restart the workers, or wait: payouts continue automatically, hour by hour, as earlier ones become older than 24 hours. The treasury needs no USDC for it.',
  }))
}

/** While the price is above the cap, every transaction is late. */
function findUnmined({ lanes, parts }: Standing): Trouble[] {
  if (isResting(parts, 'gas_above_cap')) return []
  return lanes.flatMap(({ wallet, unminedSeconds: age }): Trouble[] =>
    age === null || age < UNMINED_SECONDS
      ? []
      : [
          {
            kind: 'not_mined',
            stops: false,
            what: `a transaction of lane ${wallet} has not been mined for ${ageText(age)}`,
            todo: 'Check that the nodes pass transactions on: the list below shows what each of them returns. If others pay a higher tip than MAX_FEE_GWEI leaves room for, raise it and restart the workers.',
          },
        ],
  )
}

type Attended = Pick<Trouble, 'kind' | 'todo'> & {
  readonly kinds: readonly string[]
  readonly what: (count: number) => string
}

/** Attention that stops no money: the first entry of each kind is named. */
const ATTENDED: readonly Attended[] = [
  {
    kind: 'receipt',
    kinds: ['receipt'],
    what: () => 'receipts have not been proved for an hour',
    todo: 'Payments are paid, and their receipts are late. Check that the nodes give block receipts, or name others in POLYGON_RPC_URLS.',
  },
  {
    kind: 'unclaimed',
    kinds: ['unclaimed_transfer'],
    what: (count) => `no payout claims ${plural(count, 'transfer')} out of the treasury`,
    todo: 'After a restore, run `pinrail settlement rebuild`: payments that this database knows claim theirs automatically. Otherwise another deployment uses the same keys, or somebody has stolen them: find out before you run `pinrail settlement acknowledge <tx hash>`.',
  },
  {
    kind: 'release',
    kinds: ['release_stopped'],
    what: (count) =>
      `${plural(count, 'release')} of reserves ${count === 1 ? 'is' : 'are'} stopped until an operator decides`,
    todo: 'End the cause: above PAYOUT_MAX_USDC, see whether so much is right, raise it and restart the workers. Then run `pinrail settlement resume <release>`: every check is made again. If Circle has blocked the wallet, void the release with `pinrail settlement void <release>`, and let the merchant set another wallet.',
  },
  {
    kind: 'release',
    kinds: ['release_voided'],
    what: (count) => `${plural(count, 'release')} of reserves ${count === 1 ? 'is' : 'are'} void`,
    todo: 'If no operator has voided it (`pinrail merchants show <merchant>` lists their actions), find out who has the key of the treasury. Once the merchant has the right wallet, run `pinrail settlement resume <release>`: its reserves are released again to that wallet, under another nonce.',
  },
  {
    kind: 'release',
    kinds: ['release_overdue'],
    what: (count) => `the reserves of ${plural(count, 'merchant')} were due two days ago and are held back`,
    todo: 'The log of the workers has the reason. They try again every ten minutes.',
  },
  {
    kind: 'release',
    kinds: ['release_differs'],
    what: (count) =>
      `${plural(count, 'release')} that the restored backup lacks ${count === 1 ? 'is' : 'are'} of another amount than is due`,
    todo: 'Nothing at first: the workers read the disputes again, and release when both amounts are equal. If they stay different after a day, compare with the disputes at the partner. A dispute that was won or lost while the backup was restored explains it: run `pinrail settlement resume <release>`, and the release is what the chain has paid. If a payment is missing here, find it first.',
  },
  {
    kind: 'rate',
    kinds: ['rate_refused'],
    what: (count) =>
      `the rates of ${plural(count, 'currency', 'currencies')} are far from those of an hour ago, and are not used`,
    todo: 'Payments in these currencies wait and are not quoted. Compare the rate with the market. If it is wrong, the source of rates (CONVERTER_URL) must correct it, and payments continue. If it is right, run `pinrail settlement accept-rate <currency> <rate>`.',
  },
  {
    kind: 'hook',
    kinds: ['payout_hook', 'treasury_log', 'deposit_log'],
    what: (count) => `${plural(count, 'fact')} of the chain could not be recorded`,
    todo: 'They are proved and kept, and tried again every 30 seconds. Look into the log of the worker for the reason.',
  },
  {
    kind: 'sweep',
    kinds: ['sweep'],
    what: (count) => `deposits at ${plural(count, 'address', 'addresses')} have not been swept for an hour`,
    todo: 'See that a lane is free and can pay its gas. If others are swept, compare the USDC at the address: the token refuses a sweep of more, or from a blocked address. If somebody moved it by hand, move what is left to the treasury with the same key.',
  },
  {
    kind: 'void',
    kinds: ['void'],
    what: (count) =>
      `${plural(count, 'payout has been waiting for its void', 'payouts have been waiting for their void')} for two hours`,
    todo: 'A refund waits for it. Check the worker’s log for a treasury key that refuses to sign, and check that a lane is free and can pay its gas.',
  },
  {
    kind: 'unserved',
    kinds: ['unserved'],
    what: () => 'payouts of another chain or token wait, which no worker pays',
    todo: 'Start workers with the CHAIN_ID and USDC_ADDRESS of these payouts in addition to the others, or void and refund their payments.',
  },
  {
    kind: 'no_key',
    kinds: ['no_key'],
    what: (count) => `payouts wait for the key of ${plural(count, 'treasury', 'treasuries')}, which no worker has`,
    todo: 'Give the key to the workers (RETIRED_TREASURY_KEYS). If it is lost, run `pinrail settlement take-over <treasury>`: another treasury then pays.',
  },
]

function findAttended({ attention, queue, wanting }: Standing): Trouble[] {
  const stopsFor: Partial<Record<Trouble['kind'], boolean>> = {
    // A thief might have used up the limit.
    unclaimed: queue.some(({ state, reason }) => state === 'stopped' && reason === 'limit'),
    no_key: wanting.length === 0 && queue.every(({ state }) => state === 'queued'),
  }
  return ATTENDED.flatMap(({ kind, kinds, what, todo }) => {
    const open = attention.filter((entry) => kinds.includes(entry.kind))
    const [first] = open
    if (first === undefined) return []
    const named = `${first.subject}: ${first.detail ?? 'no detail'}`
    return [{ kind, stops: stopsFor[kind] === true, what: `${what(open.length)} (${named})`, todo }]
  })
}

/** Payouts continue: only what is not converted yet waits. */
function findLowFloat({ float }: Standing): Trouble[] {
  if (float === null) return []
  const { freeMicro, reserveMicro, waiting } = float
  const waits =
    waiting.count === 0 ? '' : `: ${plural(waiting.count, 'conversion')} of ${formatUsdc(waiting.micro)} USDC wait`
  const missing = BigInt(reserveMicro) - BigInt(freeMicro) + BigInt(waiting.micro)
  if (missing <= 0n) return []
  return [
    {
      kind: 'float_low',
      stops: false,
      what: `the float is ${formatUsdc(freeMicro)} USDC, and its reserve ${formatUsdc(reserveMicro)}${waits}`,
      todo: `Send at least ${formatUsdc(String(missing))} USDC to the treasury, or hasten the refills below. Conversions continue within a minute, without an operator.`,
    },
  ]
}

/** Partners answer and money arrives within days. */
const REFILL_SECONDS = 3 * 86_400

function findRefills({ float }: Standing): Trouble[] {
  return (float?.refills ?? []).flatMap(({ id, partner, money, word, instructions, isStuck, seconds }): Trouble[] => {
    const named = `the refill ${id} of ${moneyText(money)}`
    if (instructions !== null)
      return [
        {
          kind: 'refill',
          stops: false,
          what: `${named} waits for its money since ${ageText(seconds)}`,
          todo: `Send what partners have settled of it to ${partner} in one transfer, unless somebody has: ${instructions}. What is missing counts as spread.`,
        },
      ]
    if (seconds < REFILL_SECONDS && !isStuck) return []
    return [
      {
        kind: 'refill',
        stops: false,
        what: isStuck
          ? `${named} is stuck: ${partner} reports ${word ?? 'nothing'}`
          : `${named} has not arrived for ${ageText(seconds)} (${word ?? 'its partner was not asked'})`,
        todo: `Ask ${partner} about the transfer with our reference ${id}. If it never brings anything, run \`pinrail settlement end-refill ${id}\`: the money is refilled again.`,
      },
    ]
  })
}

const moneyText = (money: Money): string => `${formatAmount(money)} ${money.currency}`

/** 55 minutes, and time for the proof. */
const TAKE_OVER_SECONDS = 7200

function findTakeOvers({ takeOvers, queue }: Standing): Trouble[] {
  const waiting = queue.reduce((sum, { count }) => sum + count, 0)
  return takeOvers.map(({ from, to, count, sinceSeconds }) => ({
    kind: 'take_over',
    stops: count >= waiting,
    what: `${payoutsText(count)} ${count === 1 ? 'moves' : 'move'} from the treasury ${from} to ${to}, which takes over`,
    todo:
      sinceSeconds < TAKE_OVER_SECONDS
        ? `Nothing: within 55 minutes of the take-over (${ageText(sinceSeconds)} ago) or of a restore, no signature of the old key is valid any more. Then the payouts move.`
        : 'They have waited for two hours. The nodes must give the state of the last final block: see the list below. If the nonce of a payout is used, it waits for its log. If something else is wrong, the worker’s log has the reason.',
  }))
}

/** True if the payout waits for an operator, and not for settlement. */
export const isStopped = ({ state, reason }: Standing['queue'][number]): boolean =>
  state === 'stopped' && reason !== 'funds' && reason !== 'limit'

/** Names one of the payouts of each reason, with the cause. They stop no other payout. */
function findStoppedPayouts({ queue, attention }: Standing): Trouble[] {
  return queue.filter(isStopped).map(({ reason, count, micro }): Trouble => {
    const payouts = `${payoutsText(count)} of ${formatUsdc(micro)} USDC ${count === 1 ? 'is' : 'are'} stopped`
    if (reason === 'merchant')
      return {
        kind: 'payout_stopped',
        stops: false,
        what: `${payouts} because their merchants are suspended with their payouts`,
        todo: 'Nothing: they continue when you run `pinrail merchants resume <merchant>`. `pinrail merchants list --status suspended` names the merchants.',
      }
    const named = attention.find(({ kind, detail }) => kind === 'payout_stopped' && detail?.startsWith(`${reason}: `))
    const cause = named === undefined ? '' : ` (${named.subject}: ${named.detail?.slice(`${reason}: `.length)})`
    return {
      kind: 'payout_stopped',
      stops: false,
      what: `${payouts} (${reason ?? 'no reason'}) until an operator decides${cause}`,
      todo: `Look with \`pinrail payments explain ${named?.subject ?? '<payment>'}\`, then decide \`settle\`, or \`give_back\`, which voids the payout first. \`pinrail attention\` names all of them. When the cause has ended, \`pinrail payments retry-stopped ${reason ?? '<reason>'}\` tries all of them again.`,
    }
  })
}

export const payoutsText = (count: number): string => plural(count, 'payout')

/** Formats ages for people: `40 s`, `12 min`, `3 h`, `5 days`. */
export function ageText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
