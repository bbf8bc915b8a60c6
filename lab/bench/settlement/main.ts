import type { Progress } from '../../../scripts/setup/progress.mjs'
import { startStage } from '../../settlement/stage.ts'
import { measureGas } from './gas.ts'
import { measureLostAnswers } from './lost-answers.ts'
import { measureSpeed } from './speed.ts'

/** Payouts of each run for speed: enough that the wait for the last block and its finality, some 4 s, is a small part. */
const PAYOUTS = 20_000

/** The runs without payments show what the engine alone takes of it. */
const RUNS = [
  { recipients: 'known', payments: true },
  { recipients: 'known', payments: false },
  { recipients: 'new', payments: true },
  { recipients: 'new', payments: false },
] as const

/**
 * `npm run bench:settlement`: what a payout costs in gas, how many a second one engine settles with signing, database and
 * finality, and what it calls failed while answers are lost. One line a figure: `name value unit`.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const payouts = Number(args[args.indexOf('--payouts') + 1]) || PAYOUTS
  const stage = await startStage({ relayers: 3, anvil: ['--no-mining'], durable: true })
  const say = (name: string, value: number | string, unit: string): void => progress.line(`${name} ${value} ${unit}`)
  try {
    for (const { name, gas } of await measureGas(stage)) say(`gas_${name}`, Math.round(gas), 'gas/payout')
    const { settled, failed, lost, sends } = await measureLostAnswers(stage, 300)
    say('lost_answers', `${lost}/${sends}`, 'answers to eth_sendRawTransaction')
    say('settled_with_lost_answers', settled, 'of 300 payouts')
    say('called_failed_that_settled', failed, 'payouts')
    for (const run of RUNS) {
      const speed = await measureSpeed(stage, { ...run, payouts })
      const name = `${run.recipients}_${run.payments ? 'with_payments' : 'payouts_alone'}`
      say(`payouts_per_second_${name}`, Math.round(speed.perSecond), 'payouts/s')
      say(`statements_${name}`, speed.statements.toFixed(2), 'statements/payout')
      say(`cpu_engine_${name}`, speed.cpu.engine.toFixed(3), 'ms/payout')
      say(`cpu_postgres_${name}`, speed.cpu.postgres.toFixed(3), 'ms/payout')
      say(`cpu_anvil_${name}`, speed.cpu.anvil.toFixed(3), 'ms/payout')
    }
    return failed === 0 && settled === 300 ? 0 : 1
  } finally {
    await stage.stop()
  }
}
