import { describe, expect, test } from '@jest/globals'
import type { Look } from '../../src/chain/engine.ts'
import { createLooks } from '../../src/settlement/looks.ts'

const newLook = (): Look => ({ lead: {}, head: null }) as Look

/** Asks as an engine does, and answers when a test releases it. */
function createAsked(outdatedMs = 60_000) {
  const answers: ((look: Look) => void)[] = []
  const look = () => new Promise<Look>((resolve) => answers.push(resolve))
  return { answers, looks: createLooks({ look, lead: async () => (await look()).lead }, outdatedMs) }
}

describe('Reads that parts share', () => {
  test('a shared read is answered once for two parts', async () => {
    const { answers, looks } = createAsked()
    const taken = looks.take()
    const look = newLook()
    answers[0]?.(look)
    await taken
    expect(await looks.lead(true)).toBe(look.lead)
    expect(await looks.share(true)).toBe(look)
    const asked = looks.share(true)
    expect(answers).toHaveLength(2)
    answers[1]?.(newLook())
    await asked
  })

  // A payout that was signed after the question waited for the next round.
  test.each(['share', 'lead'] as const)('%s does not use a shared read that began before a change', async (use) => {
    const { answers, looks } = createAsked()
    const taken = looks.take()
    looks.forget()
    answers[0]?.(newLook())
    await taken
    const asked = looks[use](true)
    expect(answers).toHaveLength(2)
    const later = newLook()
    answers[1]?.(later)
    expect(await asked).toBe(use === 'share' ? later : later.lead)
  })

  test('a part that was not woken has nothing to do until the shared read is outdated', async () => {
    const { answers, looks } = createAsked()
    const first = looks.share(false)
    answers[0]?.(newLook())
    expect(await first).not.toBeNull()
    const taken = looks.take()
    answers[1]?.(newLook())
    await taken
    expect([await looks.share(false), await looks.lead(false)]).toEqual([null, null])
    expect(await looks.share(true)).not.toBeNull()
    const outdated = createAsked(0)
    const late = outdated.looks.take()
    outdated.answers[0]?.(newLook())
    await late
    expect(await outdated.looks.share(false)).not.toBeNull()
  })
})
