import type { Progress } from '../../scripts/setup/progress.mjs'
import { startServices } from '../../scripts/test/services/services.ts'
import { playStory } from '../../test/model/story/play.ts'
import { kindOf, printStory, shrinkStory } from '../../test/model/story/shrink.ts'
import { tellStory } from '../../test/model/story/tell.ts'
import { openTheater, type Theater } from '../../test/model/world/shop.ts'
import { openStage, type Stage } from '../../test/model/world/stage.ts'
import { DEFECTS } from './defects.ts'

type Asked = {
  readonly seed: number
  readonly from: number
  readonly stories: number
  readonly trace: boolean
  readonly say: (line: string) => void
}

/** A story is played so often at most to find a shorter one that goes wrong in the same way. */
const MOST_SHRINKING = 80

/** `npm run model -- --seed 1 --stories 500`, and `--planted`: see docs/model.md. Returns 0 when nothing went wrong. */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const numberOf = (name: string, otherwise: number): number =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : otherwise
  const asked: Asked = {
    seed: numberOf('--seed', 1),
    from: numberOf('--from', 0),
    stories: numberOf('--stories', 500),
    trace: args.includes('--trace'),
    say: (line) => progress.line(line),
  }
  const services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  try {
    const stage = await openStage()
    try {
      return args.includes('--planted') ? await plant(stage, asked, args) : await play(stage, asked)
    } finally {
      await stage.close()
    }
  } finally {
    await services.stop()
  }
}

async function play(stage: Stage, { seed, from, stories, trace, say }: Asked): Promise<number> {
  const theater = await openTheater(stage)
  const found = new Map<string, number>()
  const began = performance.now()
  const cpu = process.cpuUsage()
  for (let number = from; number < from + stories; number++) {
    const story = tellStory(seed, number)
    const wrong = await playStory(theater, story)
    if (trace) say(`${number} ${JSON.stringify(story)} ${theater.last()}`)
    if ((number - from) % 50 === 49) say(`${number - from + 1} stories played`)
    const [first] = wrong
    if (first === undefined) continue
    const kind = kindOf(first)
    found.set(kind, (found.get(kind) ?? 0) + 1)
    if (found.get(kind) !== 1) continue
    say(`WRONG in story ${number} of seed ${seed}: ${wrong.join(' · ')}`)
    say(await shortest(theater, story, kind))
  }
  await theater.close()
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

async function shortest(theater: Theater, story: Parameters<typeof playStory>[1], kind: string): Promise<string> {
  let last: readonly string[] = []
  let tries = 0
  const short = await shrinkStory(story, async (smaller) => {
    if (tries++ >= MOST_SHRINKING) return false
    const wrong = await playStory(theater, smaller)
    const isSame = wrong.some((each) => kindOf(each) === kind)
    if (isSame) last = wrong
    return isSame
  })
  return printStory(short, last.length === 0 ? [kind] : last)
}

/** Plants each defect, and tells stories until one goes wrong that does not go wrong without it. */
async function plant(stage: Stage, asked: Asked, args: readonly string[]): Promise<number> {
  const { seed, from, stories, say } = asked
  const wanted = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined
  let missed = 0
  for (const { name, ...edit } of DEFECTS.filter((each) => wanted === undefined || each.name.includes(wanted))) {
    let caught: string | null = null
    for (let number = from; number < from + stories && caught === null; number++) {
      const story = tellStory(seed, number)
      const [wrong] = await playOn(stage, story, [edit])
      if (wrong === undefined) continue
      if ((await playOn(stage, story, [])).length === 0) caught = `after ${number - from + 1} stories: ${wrong}`
    }
    if (caught === null) missed++
    say(`${caught === null ? 'MISSED ' : 'caught '} ${name}: ${caught ?? `not in ${stories} stories`}`)
  }
  say(`defects that were not caught: ${missed}`)
  return missed === 0 ? 0 : 1
}

const theaters = new Map<string, Theater>()

async function playOn(stage: Stage, story: Parameters<typeof playStory>[1], edits: Parameters<typeof openTheater>[1]) {
  const key = JSON.stringify(edits)
  const theater = theaters.get(key) ?? (await openTheater(stage, edits))
  theaters.set(key, theater)
  stage.useClock(theater.timeline.now)
  return playStory(theater, story)
}
