import type { Progress } from '../../scripts/setup/progress.mjs'
import { startServices } from '../../scripts/test/services/services.ts'
import { DEFECTS } from '../../test/model/defects/all.ts'
import { catchDefect } from '../../test/model/defects/catching.ts'
import { openTestSystem, type TestSystem } from '../../test/model/fixture/payment.ts'
import { openTestServices, type TestServices } from '../../test/model/fixture/services.ts'
import { playOnServers } from '../../test/model/server/agree.ts'
import { playStory } from '../../test/model/story/play.ts'
import { playRandom } from '../../test/model/story/random-story.ts'
import { getFailureKind, printStory, shrinkStory } from '../../test/model/story/shrink.ts'

type Asked = {
  readonly seed: number
  readonly from: number
  readonly stories: number
  readonly trace: boolean
  readonly say: (line: string) => void
}

/** Maximum number of times that a story is played to find a shorter one that goes wrong in the same way. */
const MAX_SHRINKING = 80

/** `npm run model -- --seed 1 --stories 500`, and `--planted`: see docs/model.md. Returns 0 if nothing went wrong. */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const readNumber = (name: string, otherwise: number): number =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : otherwise
  const asked: Asked = {
    seed: readNumber('--seed', 1),
    from: readNumber('--from', 0),
    stories: readNumber('--stories', 500),
    trace: args.includes('--trace'),
    say: (line) => progress.line(line),
  }
  const services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  try {
    const testServices = await openTestServices()
    try {
      if (args.includes('--server'))
        return await compare(testServices, { ...asked, stories: readNumber('--server', 12) })
      return args.includes('--planted') ? await plant(testServices, asked, args) : await play(testServices, asked)
    } finally {
      await testServices.close()
    }
  } finally {
    await services.stop()
  }
}

async function play(testServices: TestServices, { seed, from, stories, trace, say }: Asked): Promise<number> {
  const testSystem = await openTestSystem(testServices)
  const found = new Map<string, number>()
  const began = performance.now()
  const cpu = process.cpuUsage()
  for (let number = from; number < from + stories; number++) {
    const { story, wrong } = await playRandom(testSystem, { seed, number })
    if (trace) say(`${number} ${JSON.stringify(story)} ${testSystem.last()}`)
    if ((number - from) % 50 === 49) say(`${number - from + 1} stories played`)
    const [first] = wrong
    if (first === undefined) continue
    const kind = getFailureKind(first)
    found.set(kind, (found.get(kind) ?? 0) + 1)
    if (found.get(kind) !== 1) continue
    say(`WRONG in story ${number} of seed ${seed}: ${wrong.join(' · ')}`)
    say(await shortest(testSystem, story, kind))
  }
  await testSystem.close()
  const { user, system } = process.cpuUsage(cpu)
  const seconds = Math.round((performance.now() - began) / 1000)
  say(
    `${stories} stories of seed ${seed} in ${seconds} s, ${Math.round((user + system) / 1e6)} s of CPU without Postgres`,
  )
  for (const [kind, count] of found) say(`${count} × ${kind}`)
  const wrong = [...found.values()].reduce((total, count) => total + count, 0)
  say(`stories that went wrong: ${wrong}`)
  return wrong === 0 ? 0 : 1
}

async function shortest(testSystem: TestSystem, story: Parameters<typeof playStory>[1], kind: string): Promise<string> {
  let last: readonly string[] = []
  let tries = 0
  const short = await shrinkStory(story, async (smaller) => {
    if (tries++ >= MAX_SHRINKING) return false
    const wrong = await playStory(testSystem, smaller)
    const isSame = wrong.some((each) => getFailureKind(each) === kind)
    if (isSame) last = wrong
    return isSame
  })
  return printStory(short, last.length === 0 ? [kind] : last)
}

/** Plays stories in virtual time and on a Temporal server, and compares the results. */
async function compare(testServices: TestServices, { seed, from, stories, trace, say }: Asked): Promise<number> {
  const testSystem = await openTestSystem(testServices)
  let wrong = 0
  await playOnServers(testSystem, { seed, from, stories }, (number, both) => {
    const isSame = JSON.stringify(both.here) === JSON.stringify(both.there)
    if (trace || !isSame)
      say(`${number} ${isSame ? 'the same' : 'DIFFERENT'}: ${JSON.stringify(both, null, isSame ? 0 : 1)}`)
    if (!isSame) wrong++
  })
  await testSystem.close()
  say(`${stories} stories played in both: ${wrong} ended differently`)
  return wrong === 0 ? 0 : 1
}

/** Plants each bug alone, and reports if random stories catch it. */
async function plant(testServices: TestServices, asked: Asked, args: readonly string[]): Promise<number> {
  const { stories, say } = asked
  const readValue = (option: string): string | undefined =>
    args.includes(option) ? args[args.indexOf(option) + 1] : undefined
  const wanted = readValue('--only') ?? ''
  // `--part 2/3`: each third defect from the second on, so that several processes share the work.
  const [part = 1, parts = 1] = (readValue('--part') ?? '1/1').split('/').map(Number)
  const defects = DEFECTS.filter(({ name }) => name.includes(wanted)).filter(
    (_defect, index) => index % parts === part - 1,
  )
  const sound = await openTestSystem(testServices)
  let missed = 0
  for (const defect of defects) {
    const caught = await catchDefect(sound, defect, asked)
    if (caught === null) missed++
    say(
      caught === null
        ? `MISSED  ${defect.name}: not in ${stories} stories`
        : `caught  ${defect.name}: after ${caught.played} stories: ${caught.wrong}`,
    )
  }
  await sound.close()
  say(`defects that were not caught: ${missed}`)
  return missed === 0 ? 0 : 1
}
