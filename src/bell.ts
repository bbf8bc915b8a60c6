/** Ends a waiting early; rung while nobody waits, it ends the next waiting. */
export type Bell = { ring(): void; wait(ms: number): Promise<void> }

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
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      rung = false
    },
  }
}
