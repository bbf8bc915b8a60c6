import type { Story, StoryStep } from './steps.ts'

/** Removes and simplifies steps as long as the story fails in the same way. */
export async function shrinkStory(story: Story, fails: (story: Story) => Promise<boolean>): Promise<Story> {
  let best = story
  for (let again = true; again; ) {
    again = false
    for (const smaller of smallerThan(best)) {
      if (!(await fails(smaller))) continue
      best = smaller
      again = true
      break
    }
  }
  return best
}

function* smallerThan(story: Story): Generator<Story> {
  const { steps } = story
  for (const size of [8, 4, 2, 1]) {
    if (size >= steps.length) continue
    for (let at = steps.length - size; at >= 0; at--)
      yield { ...story, steps: [...steps.slice(0, at), ...steps.slice(at + size)] }
  }
  for (const [at, step] of steps.entries())
    for (const simple of simplerThan(step)) yield { ...story, steps: steps.with(at, simple) }
  if (story.minor !== '10000') yield { ...story, minor: '10000' }
  if (story.currency !== undefined && story.currency !== 'EUR') yield { ...story, currency: 'EUR' }
  if (story.only === true) yield { ...story, only: false }
  if (story.pinned && story.only !== true) yield { ...story, pinned: false }
}

function simplerThan(step: StoryStep): StoryStep[] {
  const { together, ...alone } = step
  const simpler: StoryStep[] = together === true ? [alone] : []
  if (step.do === 'partner' && step.percent !== 100) simpler.push({ ...step, percent: 100 })
  if (step.do === 'partner' && step.arrival !== 'signaled') simpler.push({ ...step, arrival: 'signaled' })
  if (step.do === 'fault' && step.times > 1) simpler.push({ ...step, times: 1 })
  if ((step.do === 'send USDC' || step.do === 'refund') && step.percent !== 100) simpler.push({ ...step, percent: 100 })
  if (step.do === 'send USDC' && !step.final) simpler.push({ ...step, final: true })
  if (step.do === 'lanes' && step.known !== 'recorded') simpler.push({ ...step, known: 'recorded' })
  if (step.do === 'wait' && step.minutes > 1) simpler.push({ ...step, minutes: step.minutes > 60 ? 60 : 1 })
  if (step.do === 'click' && step.provider !== 'wallet_app') simpler.push({ ...step, provider: 'wallet_app' })
  if (step.do === 'decide' && step.of !== null) simpler.push({ ...step, of: null })
  if (step.do === 'decide' && step.before === true) {
    const { before: _, ...now } = step
    simpler.push(now)
  }
  return simpler
}

/** Removes what differs from play to play, so that two failures can be compared. */
export function getFailureKind(wrong: string): string {
  return wrong.replaceAll(/\b(?:pay|att|evt|ref)_[0-9a-z]{26}/g, 'ID').replaceAll(/\b\d+\b/g, 'N')
}

/** The story as an entry of a list in `test/model/found`. */
export function printStory(story: Story, wrong: readonly string[]): string {
  return [
    '  {',
    `    title: '…',`,
    `    was: '${wrong.join(' · ')}',`,
    `    minor: '${story.minor}',`,
    ...(story.currency === undefined ? [] : [`    currency: '${story.currency}',`]),
    `    pinned: ${story.pinned},`,
    ...(story.only === true ? ['    only: true,'] : []),
    '    steps: [',
    ...story.steps.map((step) => `      ${literal(step)},`),
    '    ],',
    '  },',
  ].join('\n')
}

const literal = (step: StoryStep): string =>
  `{ ${Object.entries(step)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : String(value)}`)
    .join(', ')} }`
