import type { Progress } from '../../../scripts/setup/progress.mjs'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { type Setup, startSetup } from '../../settlement/setup.ts'
import { measureSizes } from './filled.ts'
import { measureGas } from './gas.ts'
import { measureLostAnswers } from './lost-answers.ts'
import { measureSpeed, type Run, type Speed } from './speed.ts'

/**
 * Payouts of each run for speed: enough that the wait for the last block and its finality, some 4 s, is a small part.
 */
const PAYOUTS = 20_000

/** The runs without payments show the part of the engine alone. */
const RUNS = [
  { recipients: 'known', payments: true },
  { recipients: 'known', payments: false },
  { recipients: 'new', payments: true },
  { recipients: 'new', payments: false },
] as const

/**
 * A quarter of the memory of a machine with 8 GB. Indexes of a million payouts do not fit into the 128 MB that are
 * Postgres' default.
 */
const LARGE = ['shared_buffers=2GB', 'max_wal_size=8GB']

const SIGNATURES = 2000

type Say = (name: string, value: number | string, unit: string) => void

/**
 * `npm run bench:settlement`: measures the gas of a payout, how many a second one engine settles with signing, database
 * and finality, and which it calls failed while answers are lost. One line a figure: `name value unit`. With `--settled
 * 1000000` it measures the rate with that many settled payouts instead, and their size; `--only <name>` runs one kind
 * of speed.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const option = (name: string): string | undefined =>
    args.includes(`--${name}`) ? args[args.indexOf(`--${name}`) + 1] : undefined
  const payouts = Number(option('payouts') ?? PAYOUTS)
  const settled = Number(option('settled') ?? 0)
  const settings = settled > 0 ? LARGE : []
  const setup = await startSetup({ relayers: 3, anvil: ['--no-mining'], durable: true, settings })
  const say: Say = (name, value, unit) => progress.line(`${name} ${value} ${unit}`)
  try {
    say('signature', (await measureSignature()).toFixed(3), 'ms')
    if (settled > 0) return await compareFilled(setup, { payouts, settled, say })
    const only = option('only')
    if (only === undefined && !(await costAndCare(setup, say))) return 1
    for (const run of RUNS.filter((each) => only === undefined || only === getName(each)))
      printSpeed(getName(run), await measureSpeed(setup, { ...run, payouts }), say)
    return 0
  } finally {
    await setup.stop()
  }
}

/** Returns the milliseconds of one signature, which is the speed of this machine now: for comparing two machines. */
async function measureSignature(): Promise<number> {
  const account = createKeyAccount(`0x${'11'.repeat(32)}`)
  const signAll = async (): Promise<void> => {
    for (let made = 0; made < SIGNATURES; made++) await account.sign?.({ hash: `0x${'22'.repeat(32)}` })
  }
  await signAll()
  const begun = performance.now()
  await signAll()
  return (performance.now() - begun) / SIGNATURES
}

const getName = ({ recipients, payments }: Pick<Run, 'recipients' | 'payments'>): string =>
  `${recipients}_${payments ? 'with_payments' : 'payouts_alone'}`

/** Measures gas, and lost answers. Returns false if a payout was called failed, or was not settled. */
async function costAndCare(setup: Setup, say: Say): Promise<boolean> {
  for (const { name, gas } of await measureGas(setup)) say(`gas_${name}`, Math.round(gas), 'gas/payout')
  const { settled, failed, lost, sends } = await measureLostAnswers(setup, 300)
  say('lost_answers', `${lost}/${sends}`, 'answers to eth_sendRawTransaction')
  say('settled_with_lost_answers', settled, 'of 300 payouts')
  say('called_failed_that_settled', failed, 'payouts')
  return failed === 0 && settled === 300
}

/** Measures the same run in an empty and in a filled database, one after the other, and the size of the filled one. */
async function compareFilled(
  setup: Setup,
  { payouts, settled, say }: { payouts: number; settled: number; say: Say },
): Promise<number> {
  const sizes = await measureSizes(setup, settled)
  say('fill', Math.round(sizes.fillSeconds), 's')
  say('size_empty', Math.round(sizes.emptyMb), 'MB')
  say('size_filled', Math.round(sizes.filledMb), 'MB')
  say('size_of_payout', Math.round(((sizes.filledMb - sizes.emptyMb) * 1e6) / settled), 'bytes/payout')
  for (const { table, bytes } of sizes.bytesByTable) say(`size_of_${table}`, Math.round(bytes), 'bytes/payout')
  const run = { payouts, recipients: 'known', payments: true } as const
  printSpeed('empty', await measureSpeed(setup, run), say)
  printSpeed('filled', await measureSpeed(setup, { ...run, settled }), say)
  return 0
}

function printSpeed(name: string, speed: Speed, say: Say): void {
  say(`payouts_per_second_${name}`, Math.round(speed.perSecond), 'payouts/s')
  say(`statements_${name}`, speed.statements.toFixed(3), 'statements/payout')
  say(`calls_${name}`, speed.calls.toFixed(3), 'calls/payout')
  say(`cpu_engine_${name}`, speed.cpu.engine.toFixed(3), 'ms/payout')
  say(`cpu_postgres_${name}`, speed.cpu.postgres.toFixed(3), 'ms/payout')
  say(`cpu_anvil_${name}`, speed.cpu.anvil.toFixed(3), 'ms/payout')
}
