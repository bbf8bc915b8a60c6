import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { newRecipient, type Owed } from '../../settlement/payouts.ts'
import { type Setup, startSetup } from '../../settlement/setup.ts'
import { SLOTS_IN_AN_EPOCH } from './chain-faults.ts'
import { type ChaosResult, runChaos } from './chaos-run.ts'
import { judge, type Verdict } from './checker.ts'
import { checkRecord, readGasMoney } from './record.ts'
import { controlSide, engineSide, type Side } from './sides.ts'

/** Seconds within which the engine settles again after the last fault. */
const SETTLES_AGAIN_WITHIN = 60

/**
 * `npm run chaos:settlement -- --seed N --payouts 2000`: two engines under faults: lost requests and answers, dropped
 * transactions, reorganizations, fee spikes, SIGKILLs; one node at a time that hangs, drips, returns a wrong head, has
 * no logs or no state, gives logs of few blocks only, or answers that the key is revoked; two nodes that take only
 * small batches; strangers' transfers to the treasury and to deposit addresses; keys that refuse now and then. In the
 * middle Postgres is killed, the key of a lane is removed under its transaction, the treasury is rotated, the database
 * is restored from a dump that knows neither, and the key of the first treasury is lost; then a thief uses it. The
 * chain decides, and how soon payouts are settled again after the last fault. It prints how often each fault was tried;
 * then plain transfers under the same faults, as the control (`--control 0` leaves it out).
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      payouts: { type: 'string', default: '2000' },
      // The control takes half a second for each: fewer show as much.
      control: { type: 'string', default: '300' },
    },
  })
  const [seed, payouts] = [Number(values.seed), Number(values.payouts)]
  const logs = mkdtempSync(join(tmpdir(), 'pinrail-chaos-settlement-'))
  progress.line(`seed ${seed}, ${payouts} payouts; what the processes say: ${logs}`)
  const run = { seed, logs, progress }
  const problems = await play({ ...run, payouts }, 'engine')
  const control = Math.min(payouts, Number(values.control))
  if (control > 0) await play({ ...run, payouts: control }, 'control')
  for (const problem of problems) progress.line(`PROBLEM: ${problem}`)
  progress.line(problems.length === 0 ? 'every payout was paid exactly once' : 'failed')
  return problems.length === 0 ? 0 : 1
}

type Run = { readonly seed: number; readonly payouts: number; readonly logs: string; readonly progress: Progress }

async function play(run: Run, which: 'engine' | 'control'): Promise<string[]> {
  const { seed, payouts, logs, progress } = run
  const anvil = ['--no-mining', '--slots-in-an-epoch', String(SLOTS_IN_AN_EPOCH)]
  const setup = await startSetup({ relayers: 3, anvil, durable: false })
  try {
    if (which === 'engine') await leaveLittleGasMoney(setup)
    // The first reorganizations must not undo the first balances of the wallets.
    await setup.chain.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
    const side =
      which === 'engine' ? engineSide(setup, createPaymentId(Math.floor(SUCCESSOR_FROM * payouts))) : controlSide(setup)
    const owed = Array.from({ length: payouts }, (_owed, index): Owed => {
      return { paymentId: createPaymentId(index), recipient: newRecipient(), micro: BigInt(1_000_000 + index) }
    })
    const say = (text: string): void => progress.line(text)
    const result = await runChaos(setup, side, { seed, owed, say, logFile: join(logs, `${which}.log`) })
    const chain = { rpcUrl: setup.rpcUrl, token: setup.token, payers: side.payers, thief: side.operator?.thief ?? '' }
    const verdict = await judge(owed, chain)
    printResult(progress, { side, result, verdict })
    if (which === 'control') return []
    const gasMoney = await readGasMoney(setup)
    progress.line(`${side.name}: ${gasMoney.transfers} transfers of gas money to the relayers`)
    const problems = await checkRecord(setup, side, payouts)
    return [...findProblems(result, verdict), ...gasMoney.problems, ...problems]
  } finally {
    await setup.stop()
  }
}

const createPaymentId = (index: number): string => `pay_chaos_${index.toString().padStart(6, '0')}`

/**
 * Part of the payments after which the second treasury pays. None of them is requested before the treasury is rotated.
 */
const SUCCESSOR_FROM = 0.7

/** Gives the relayers enough for some batches; the rest arrives from one wallet, under the same faults. */
async function leaveLittleGasMoney({ chain, relayerKeys, fundingKey }: Setup): Promise<void> {
  for (const key of relayerKeys)
    await chain.setBalance({ address: privateKeyToAccount(key).address, value: 3n * 10n ** 18n })
  await chain.setBalance({ address: privateKeyToAccount(fundingKey).address, value: 10n ** 24n })
}

function printResult(
  progress: Progress,
  { side, result, verdict }: { side: Side; result: ChaosResult; verdict: Verdict },
): void {
  const { finished, tried, seconds, settlesAgainAfter, longestStall } = result
  const events = Object.entries(tried).map(([name, value]) => `${name} ${value}`)
  progress.line(`${side.name}: ${finished ? 'finished' : 'NOT finished'} after ${seconds} s; ${events.join(', ')}`)
  const untried = Object.entries(tried).flatMap(([name, value]) => (value === 0 ? [name] : []))
  if (untried.length > 0) progress.line(`${side.name}: too short to try ${untried.join(', ')}`)
  progress.line(
    `${side.name}: settles again ${settlesAgainAfter} s after the last fault; never longer than ${longestStall} s without`,
  )
  const { owed, once, doubled, unpaid, overpaid } = verdict
  progress.line(
    `${side.name}: ${once} of ${owed} paid once, ${doubled} doubled, ${unpaid} unpaid, ${overpaid} micro-USDC too much`,
  )
}

function findProblems(result: ChaosResult, verdict: Verdict): string[] {
  const problems: string[] = []
  if (!result.finished) problems.push('not every payout was settled in time')
  // A run that still has faults shows nothing here: it is not finished either.
  if (result.longestStall > SETTLES_AGAIN_WITHIN)
    problems.push(`${result.longestStall} s without a settlement after the last fault`)
  for (const kind of ['doubled', 'unpaid', 'wrongAmount', 'strangers'] as const)
    if (verdict[kind] > 0) problems.push(`${verdict[kind]} ${kind}`)
  if (verdict.once !== verdict.owed) problems.push(`${verdict.once} of ${verdict.owed} paid once`)
  if (verdict.balances !== 'agree') problems.push('balances and transfers differ')
  return problems
}
