import { createPaymentFixture, type PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { startServices } from '../../scripts/test/services/services.ts'
import { startTimeSkipping } from '../../scripts/test/services/temporal.ts'
import { type Outcome, play } from '../../test/outcomes/play.ts'
import { STORIES, type Story } from '../../test/outcomes/stories.ts'
import { PLAYED_WAYS, type PlayedWay } from '../../test/outcomes/ways.ts'

/** Stories that are played at the same time: most of each is waiting for the next fact. */
const AT_ONCE = 4

type Play = { readonly story: Story; readonly way: PlayedWay; outcome: Outcome | null }

/**
 * `npm run outcomes`: plays every story of a buyer with every provider, with simulated partners, a real
 * database and real workflows. At each moment it compares the page with the rows. `-- --only TEXT` plays those whose
 * name has the text. Returns 0 if every page was true.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '') : ''
  const plays = STORIES.flatMap((story) => PLAYED_WAYS.map((way): Play => ({ story, way, outcome: null }))).filter(
    (each) => getName(each).includes(only),
  )
  const services = await startServices()
  Object.assign(process.env, TEST_ENVIRONMENT, { PINRAIL_TEST_SERVICES: services.url })
  try {
    const env = await startTimeSkipping()
    const fixture = await createPaymentFixture(env, { clock: Date.now })
    try {
      const began = performance.now()
      await playAll(fixture, plays)
      return report(plays, { seconds: (performance.now() - began) / 1000, say: (line) => progress.line(line) })
    } finally {
      await fixture.close()
      await env.teardown()
    }
  } finally {
    await services.stop()
  }
}

async function playAll(fixture: PaymentFixture, plays: readonly Play[]): Promise<void> {
  const queue = [...plays]
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      next.outcome = await play(fixture, next.story, next.way)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

function report(
  plays: readonly Play[],
  { seconds, say }: { readonly seconds: number; readonly say: (line: string) => void },
): number {
  let [played, looks, wrong] = [0, 0, 0]
  for (const each of plays) {
    if (each.outcome === null) throw new Error(`${getName(each)} was not played`)
    if (each.outcome.kind === 'no meaning') {
      say(`${getName(each)}: no meaning: ${each.outcome.because}`)
      continue
    }
    played += 1
    looks += each.outcome.looks
    wrong += each.outcome.wrong.length
    for (const fault of each.outcome.wrong) say(`${getName(each)}: WRONG: ${fault}`)
  }
  say(`stories_played ${played}`)
  say(`pages_looked_at ${looks}`)
  say(`pages_wrong ${wrong}`)
  say(`took ${seconds.toFixed(0)} s`)
  return wrong === 0 && played > 0 ? 0 : 1
}

const getName = ({ story, way }: Play): string => `${story.name}: ${way.name}`
