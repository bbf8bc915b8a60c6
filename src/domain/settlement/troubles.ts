import { formatUsdc } from '../money.ts'
import { plural } from '../plural.ts'
import { MISSING_PAUSE, REVERSAL_PAUSE } from './payout.ts'
import type { Standing, Trouble } from './standing.ts'

/** What keeps money from moving, or will: each look knows one cause and what to do about it. */

/** A final block comes every few seconds, and an idle engine looks every five. */
const STUCK_SECONDS = 120
/** After that a transaction at the price of its time should be in a block. */
const UNMINED_SECONDS = 300
/** Some ten minutes of Polygon: both cursors move in the same round. */
const DEPOSITS_BLOCKS = 300

export function troublesOf(standing: Standing): Trouble[] {
  const looks = [pauseOf, nodesOf, readingOf, depositsOf, lanesOf, treasuryOf, minedOf, attendedOf, holdsOf]
  return looks.flatMap((look) => look(standing))
}

function pauseOf({ cursor }: Standing): Trouble[] {
  if (cursor === null || cursor.pausedReason === null) return []
  const { pausedReason: reason, pausedUntilFinal: until } = cursor
  const what = `signing and sending are paused, because ${reason}`
  if (until !== null)
    return [
      {
        kind: 'paused',
        stops: true,
        what,
        todo: `Wait: when block ${until} is final without it, the pause ends automatically.`,
      },
    ]
  const todo = reason.startsWith(MISSING_PAUSE)
    ? 'Compare the transfers of the treasury in an explorer with `treasury_log`. If the nodes withhold a transfer, name others in POLYGON_RPC_URLS: the pause ends when the transfer is booked. If you know where the USDC went, run `pinrail settlement acknowledge balance`. If you do not, the key is stolen: rotate the treasury and move the USDC first.'
    : reason.startsWith(REVERSAL_PAUSE)
      ? 'Stop the workers, then run `pinrail settlement repair-finality --dry-run`, and without --dry-run when it says what you expect.'
      : 'Find out who sent it. If it was you, run `pinrail settlement acknowledge <tx hash>`. If it was not, the key is stolen: rotate the treasury and move the USDC, then acknowledge the theft.'
  return [{ kind: 'paused', stops: true, what, todo }]
}

function readingOf({ cursor, chain }: Standing): Trouble[] {
  if (cursor === null)
    return [
      {
        kind: 'unread',
        stops: true,
        what: 'no worker has read the chain yet',
        todo: 'Start a worker. If it does not start, its log has the reason.',
      },
    ]
  if (cursor.ageSeconds < STUCK_SECONDS) return []
  const since = `the chain was read to block ${cursor.number} ${ageText(cursor.ageSeconds)} ago, and no further`
  if (!cursor.isObserved)
    return [
      {
        kind: 'no_worker',
        stops: true,
        what: `no worker is running: ${since}`,
        todo: 'Start a worker. If one is running, its log has the reason why settlement is not.',
      },
    ]
  const todo =
    chain.final === null
      ? 'Fix the nodes: the list below shows what each of them returns.'
      : chain.final <= cursor.number
        ? 'Wait: the chain itself is not finalizing blocks. Payouts settle when it does.'
        : 'Read the worker’s log: it names the blocks that it could not read.'
  return [{ kind: 'cursor_stuck', stops: true, what: since, todo }]
}

function depositsOf({ cursor }: Standing): Trouble[] {
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

function nodesOf({ chain }: Standing): Trouble[] {
  const silent = chain.nodes.filter(({ head }) => head === null)
  const names = silent.map(({ name, why }) => (why === null ? name : `${name} (${why})`)).join(', ')
  if (chain.final === null)
    return [
      {
        kind: 'no_quorum',
        stops: true,
        what: `fewer than ${chain.quorum} of ${chain.nodes.length} nodes agree on a final block${names === '' ? '' : `: no answer from ${names}`}`,
        todo: 'Bring the nodes back, or name others in POLYGON_RPC_URLS and restart the workers.',
      },
    ]
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

function lanesOf({ lanes, cursor }: Standing): Trouble[] {
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
        todo: `Find out who used its key. Then run \`pinrail settlement reopen ${wallet}\`, or give the worker another key in RELAYER_KEYS.`,
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

function treasuryOf({ queue, chain }: Standing): Trouble[] {
  const [current] = chain.treasuries
  const wanting = queue.filter(({ state, reason }) => state === 'held' && reason === 'funds')
  const unsent = queue.filter(({ state }) => state === 'queued' || state === 'authorized')
  const needed = [...wanting, ...unsent].reduce((sum, { micro }) => sum + BigInt(micro), 0n)
  const has = current?.micro ?? null
  if (wanting.length === 0 && (has === null || has >= needed)) return []
  const others = queue.filter((entry) => !wanting.includes(entry) && entry.state !== 'held')
  const balance = has === null ? 'too little USDC' : `${formatUsdc(String(has))} USDC`
  return [
    {
      kind: 'treasury_low',
      // Small payouts may still find enough.
      stops: others.length === 0,
      what: `the treasury has ${balance}, and payouts of ${formatUsdc(String(needed))} USDC wait for it`,
      todo: `Send USDC to the treasury${current === undefined ? '' : ` ${current.wallet}`}. Payouts that wait for funds continue automatically.`,
    },
  ]
}

function minedOf({ lanes }: Standing): Trouble[] {
  return lanes.flatMap(({ wallet, unminedSeconds: age }): Trouble[] =>
    age === null || age < UNMINED_SECONDS
      ? []
      : [
          {
            kind: 'not_mined',
            stops: false,
            what: `a transaction of lane ${wallet} has not been mined for ${ageText(age)}`,
            todo: 'Compare the price of gas with MAX_FEE_GWEI. Above the cap it waits until gas is cheaper, or you raise the cap.',
          },
        ],
  )
}

type Attended = Pick<Trouble, 'kind' | 'todo'> & {
  /** As the list of what waits for attention calls it. */
  readonly kinds: readonly string[]
  readonly what: (count: number) => string
}

/** What waits for attention and stops no money: the first of each kind is told by name. */
const ATTENDED: readonly Attended[] = [
  {
    kind: 'unclaimed',
    kinds: ['unclaimed_transfer'],
    what: (count) => `no payout claims ${plural(count, 'transfer')} out of the treasury`,
    todo: 'After a restore, run `pinrail settlement rebuild`: payments that this database knows claim theirs automatically. Otherwise another deployment uses the same keys, or somebody has stolen them: find out before you run `pinrail settlement acknowledge <tx hash>`.',
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
    kind: 'paid_elsewhere',
    kinds: ['paid_elsewhere'],
    what: (count) => `${payoutsText(count)} cannot be voided`,
    todo: 'Refund nothing: if that treasury paid, the merchant has the money. `treasury_log` or an explorer shows the transfer. If it was a cancellation, make sure that the nodes return its log; then the void continues automatically.',
  },
]

function attendedOf({ attention }: Standing): Trouble[] {
  return ATTENDED.flatMap(({ kind, kinds, what, todo }) => {
    const open = attention.filter((entry) => kinds.includes(entry.kind))
    const [first] = open
    if (first === undefined) return []
    const named = `${first.subject}: ${first.detail ?? 'no detail'}`
    return [{ kind, stops: false, what: `${what(open.length)} (${named})`, todo }]
  })
}

function holdsOf({ queue }: Standing): Trouble[] {
  const held = queue.filter(({ state, reason }) => state === 'held' && reason !== 'funds')
  return held.map(({ reason, count, micro }): Trouble => {
    const others = queue.some((entry) => entry.state !== 'held')
    const payouts = `${payoutsText(count)} of ${formatUsdc(micro)} USDC`
    const verb = count === 1 ? 'is' : 'are'
    if (reason === 'paused')
      return {
        kind: 'held',
        stops: !others,
        what: `${payouts} ${verb} stopped until the token is no longer paused, or the wait after a rotation is over`,
        todo: 'Wait: they continue automatically. `pinrail payments explain <payment>` says what they wait for.',
      }
    return {
      kind: 'held',
      stops: !others,
      what: `${payouts} ${verb} stopped (${reason ?? 'no reason'}) until an operator decides`,
      todo: '`pinrail attention` names them. Then `pinrail payments decide <payment> retry`, or `pinrail settlement void <payment>` before a refund.',
    }
  })
}

export const payoutsText = (count: number): string => plural(count, 'payout')

/** Ages for people: `40 s`, `12 min`, `3 h`, `5 days`. */
export function ageText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
