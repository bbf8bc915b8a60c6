/**
 * Progress for people: one line a step. On a terminal the running steps share one line that is rewritten; elsewhere
 * (CI, a pipe) each step is a plain line, and a long one reports its progress at every tenth or quarter of a minute.
 * Plain JavaScript, because it runs before the packages are there.
 */

/**
 * @typedef {object} Step
 * @property {(text: string, fraction?: number) => void} update its work now, and its progress, 0 to 1
 * @property {(detail?: string) => void} done
 * @property {(reason: string) => void} fail
 */

/**
 * @typedef {object} Progress
 * @property {(name: string) => Step} step
 * @property {(text: string) => void} line
 */

const QUIET_MS = 15_000
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/**
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
export function createProgress(stream) {
  return stream.isTTY === true ? createTerminal(stream) : createPlain(stream)
}

/**
 * @param {NodeJS.WritableStream} stream
 * @returns {Progress}
 */
function createPlain(stream) {
  const line = (/** @type {string} */ text) => void stream.write(`${text}\n`)
  return {
    line: (text) => line(`  ${text}`),
    step(name) {
      const startedAt = Date.now()
      let printedAt = startedAt
      let printedTenth = 0
      return {
        update(text, fraction) {
          const tenth = fraction === undefined ? printedTenth : Math.floor(fraction * 10)
          const now = Date.now()
          if (tenth <= printedTenth && now - printedAt < QUIET_MS) return
          printedAt = now
          printedTenth = tenth
          line(`… ${name}: ${text}${percent(fraction)}`)
        },
        done: (detail) => line(finished('✔', name, { detail, startedAt })),
        fail: (reason) => line(`✖ ${name}: ${reason}`),
      }
    },
  }
}

/**
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
function createTerminal(stream) {
  /** @type {Map<string, string>} */
  const running = new Map()
  let frame = 0
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const erase = () => void stream.write('\r\x1b[2K')
  const draw = () => {
    frame += 1
    const text = [...running].map(([name, state]) => (state === '' ? name : `${name}: ${state}`)).join(' · ')
    erase()
    stream.write(`${SPINNER[frame % SPINNER.length]} ${text}`.slice(0, (stream.columns ?? 80) - 1))
  }
  const say = (/** @type {string} */ text) => {
    erase()
    stream.write(`${text}\n`)
    if (running.size > 0) draw()
  }
  const end = (/** @type {string} */ name, /** @type {string} */ text) => {
    running.delete(name)
    if (running.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    say(text)
  }
  return {
    line: (text) => say(`  ${text}`),
    step(name) {
      const startedAt = Date.now()
      running.set(name, '')
      timer ??= setInterval(draw, 120).unref()
      return {
        update: (text, fraction) => void running.set(name, `${text}${percent(fraction)}`),
        done: (detail) => end(name, finished('✔', name, { detail, startedAt })),
        fail: (reason) => end(name, `✖ ${name}: ${reason}`),
      }
    },
  }
}

/** @param {number | undefined} fraction */
function percent(fraction) {
  return fraction === undefined ? '' : ` ${Math.min(99, Math.floor(fraction * 100))} %`
}

/**
 * @param {string} mark
 * @param {string} name
 * @param {{ detail: string | undefined, startedAt: number }} step
 */
function finished(mark, name, { detail, startedAt }) {
  const seconds = `${((Date.now() - startedAt) / 1000).toFixed(1)}s`
  return `${mark} ${name.padEnd(22)} ${(detail ?? '').padEnd(52)} ${seconds.padStart(7)}`
}
