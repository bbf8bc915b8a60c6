/** Bounds how many calls to one party this process has in flight, so that one that hangs does not hold up the others. */
export type Slots = {
  /**
   * Takes a place, the first come first. Returns what gives it back; null if as many wait as can, or if the signal is aborted
   * before there is a place.
   */
  readonly take: (party: string, signal?: AbortSignal) => Promise<(() => void) | null>
}

/** The bounds of each party. `waiting`: how many can wait for a place at once; any number unless set. */
export type SlotRules = { readonly inFlight: number; readonly waiting?: number }

type Party = { inFlight: number; readonly waiting: Set<() => void> }

export function createSlots({ inFlight, waiting = Number.POSITIVE_INFINITY }: SlotRules): Slots {
  const parties = new Map<string, Party>()

  /** Passes the place on, so that no newcomer takes it before those who wait. */
  function give(name: string, party: Party): void {
    const [next] = party.waiting
    if (next !== undefined) next()
    else if (--party.inFlight === 0) parties.delete(name)
  }

  function wait(party: Party, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isMine: boolean): void => {
        signal?.removeEventListener('abort', leave)
        party.waiting.delete(start)
        resolve(isMine)
      }
      const start = (): void => end(true)
      const leave = (): void => end(false)
      party.waiting.add(start)
      signal?.addEventListener('abort', leave)
    })
  }

  return {
    async take(name, signal) {
      if (signal?.aborted === true) return null
      const party = parties.get(name) ?? { inFlight: 0, waiting: new Set() }
      parties.set(name, party)
      if (party.inFlight < inFlight) party.inFlight++
      else if (party.waiting.size >= waiting || !(await wait(party, signal))) return null
      return () => give(name, party)
    },
  }
}
