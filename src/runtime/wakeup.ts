/** Ends a wait early; woken while there is no wait, it ends the next one. `wait` returns true if it was woken. */
export type Wakeup = { readonly wake: () => void; readonly wait: (ms?: number) => Promise<boolean> }

export function createWakeup(): Wakeup {
  let isWoken = false
  let endWait = (): void => undefined
  return {
    wake() {
      isWoken = true
      endWait()
    },
    async wait(ms) {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
          endWait = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const wasWoken = isWoken
      isWoken = false
      return wasWoken
    },
  }
}
