/** Ends a wait early; rung while there is no wait, it ends the next one. `wait` returns true if it was rung. */
export type Bell = { readonly ring: () => void; readonly wait: (ms?: number) => Promise<boolean> }

export function createBell(): Bell {
  let rung = false
  let wake = (): void => undefined
  return {
    ring() {
      rung = true
      wake()
    },
    async wait(ms) {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const wasRung = rung
      rung = false
      return wasRung
    },
  }
}
