import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { deliveredEvents } from '../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../scripts/demo/merchant.ts'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { checkSucceeded } from '../../test/e2e/harness/checker.ts'
import { WITH_ADDRESSES } from '../../test/e2e/harness/refunds.ts'
import { playRound, VICTIMS } from '../../test/e2e/harness/round.ts'
import { startTestSystem } from '../../test/e2e/harness/test-system.ts'
import { createRandom } from '../../test/support/random.ts'

const USAGE = `npm run chaos -- [options]
  --seed N        decides the order and the moments of the kills (default: another one each time)
  --payments N    in each round (default 10)
  --rounds N      how often the whole matrix is played (default 1)`

/** Milliseconds: finality, the treasury's top-ups and their bookings arrive a few blocks later. */
const BOOKS_WITHIN_MS = 60_000

/**
 * `npm run chaos`: kill -9 of each process in the middle of ten payments, and of all of them in the middle of ten more;
 * four of ten are refunded, two as soon as they are paid. Then the independent checker compares the partners, the chain, the merchant's inbox and Postgres. Returns the exit
 * code.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 100_000) },
      payments: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const random = createRandom(Number(values.seed)).next
  const say = (line: string): void => progress.line(line)
  say(`seed ${values.seed}`)
  const testSystem = await startTestSystem({ env: WITH_ADDRESSES })
  const paid: PaymentAnswer[] = []
  try {
    const matrix = [...VICTIMS.map((victim) => [victim]), VICTIMS]
    for (const victims of Array.from({ length: Number(values.rounds) }, () => matrix).flat())
      paid.push(...(await playRound(testSystem, { payments: Number(values.payments), victims, random, say })))
    for (const { id } of paid) await deliveredEvents(testSystem.merchant, id)
    const problems = await verdict(testSystem, paid, say)
    for (const problem of problems) say(problem)
    return problems.length === 0 ? 0 : 1
  } finally {
    await testSystem.stop()
  }
}

async function verdict(
  testSystem: Awaited<ReturnType<typeof startTestSystem>>,
  paid: readonly PaymentAnswer[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  const { info, sandboxUrl } = testSystem.system
  for (const deadline = Date.now() + BOOKS_WITHIN_MS; ; ) {
    const { problems, figures } = await checkSucceeded({ info, sandboxUrl }, paid)
    if (problems.length > 0 && Date.now() < deadline) {
      await delay(1000)
      continue
    }
    say(JSON.stringify(figures))
    return problems
  }
}
