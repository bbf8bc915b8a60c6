/** How many calls to one party this process has in flight, so that one that hangs does not hold up the others. */
export type Slots = {
  /** A place, to be given back by calling what is answered; null when there is none within the patience. */
  readonly take: (party: string) => Promise<(() => void) | null>
}

export type SlotRules = {
  readonly inFlight: number
  /** So many may wait for a place at once, for so long (milliseconds). */
  readonly waiting: number
  readonly patienceMs: number
}

type Party = { inFlight: number; readonly waiting: ((isMine: boolean) => void)[] }

export function createSlots(rules: SlotRules): Slots {
  const parties = new Map<string, Party>()

  function give(name: string, party: Party): void {
    const next = party.waiting.shift()
    if (next !== undefined) {
      next(true)
      return
    }
    party.inFlight--
    if (party.inFlight === 0) parties.delete(name)
  }

  function wait(party: Party): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        party.waiting.splice(party.waiting.indexOf(answer), 1)
        resolve(false)
      }, rules.patienceMs)
      const answer = (isMine: boolean): void => {
        clearTimeout(timer)
        resolve(isMine)
      }
      party.waiting.push(answer)
    })
  }

  return {
    async take(name) {
      const party = parties.get(name) ?? { inFlight: 0, waiting: [] }
      parties.set(name, party)
      if (party.inFlight < rules.inFlight) {
        party.inFlight++
        return () => give(name, party)
      }
      if (party.waiting.length >= rules.waiting) return null
      // Whoever gives back a place passes it on.
      return (await wait(party)) ? () => give(name, party) : null
    },
  }
}
