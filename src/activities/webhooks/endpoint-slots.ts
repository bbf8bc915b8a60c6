/** How many requests to one endpoint this process has in flight, so that one that hangs does not hold up the others. */
export type EndpointSlots = {
  /** A place, to be given back by calling what is answered; null when there is none within the patience. */
  readonly take: (endpointId: string) => Promise<(() => void) | null>
}

export type SlotRules = {
  readonly inFlight: number
  /** So many may wait for a place at once, for so long (milliseconds). */
  readonly waiting: number
  readonly patienceMs: number
}

type Endpoint = { inFlight: number; readonly waiting: ((isMine: boolean) => void)[] }

export function createEndpointSlots(rules: SlotRules): EndpointSlots {
  const endpoints = new Map<string, Endpoint>()

  function give(id: string, endpoint: Endpoint): void {
    const next = endpoint.waiting.shift()
    if (next !== undefined) {
      next(true)
      return
    }
    endpoint.inFlight--
    if (endpoint.inFlight === 0) endpoints.delete(id)
  }

  function wait(endpoint: Endpoint): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        endpoint.waiting.splice(endpoint.waiting.indexOf(answer), 1)
        resolve(false)
      }, rules.patienceMs)
      const answer = (isMine: boolean): void => {
        clearTimeout(timer)
        resolve(isMine)
      }
      endpoint.waiting.push(answer)
    })
  }

  return {
    async take(id) {
      const endpoint = endpoints.get(id) ?? { inFlight: 0, waiting: [] }
      endpoints.set(id, endpoint)
      if (endpoint.inFlight < rules.inFlight) {
        endpoint.inFlight++
        return () => give(id, endpoint)
      }
      if (endpoint.waiting.length >= rules.waiting) return null
      // Whoever gives back a place passes it on.
      return (await wait(endpoint)) ? () => give(id, endpoint) : null
    },
  }
}
