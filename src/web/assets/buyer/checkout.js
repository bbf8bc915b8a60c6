// The pages work without this script. With it, an open page updates without loading again, times are in the device's
// time zone, buttons copy links, and a second press of a button sends no second request.

import { showButtons } from '../kit/copy.js'
import { loadPage } from '../kit/load-page.js'

/** @typedef {import('../../checkout/live.ts').LiveStatus} LiveStatus */

/** The longest pause between two status requests, in milliseconds, also after many failures. */
const MAX_PAUSE = 30_000
/** Seconds between two status requests while the server streams changes. */
const STREAM_PAUSE = 15
/** The page shows a lost connection after this number of failures in a row. */
const LOST_AFTER = 2

/** The locale of the page's formats, with its digits. */
const { formats } = document.documentElement.dataset
const HOURS = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
/** The styles of `src/web/messages/moment.ts`. @type {Record<string, Intl.DateTimeFormatOptions>} */
const TIME_STYLES = {
  time: HOURS,
  seconds: { ...HOURS, second: '2-digit' },
  day: { ...HOURS, day: 'numeric', month: 'short' },
  long: { ...HOURS, day: 'numeric', month: 'long', year: 'numeric' },
}

/** Writes every time below `root` in the device's time zone. @param {ParentNode} root */
function writeLocalTimes(root) {
  for (const time of root.querySelectorAll('time')) {
    if (time.dateTime === '') continue
    const format = new Intl.DateTimeFormat(formats, TIME_STYLES[time.dataset.style ?? 'time'])
    time.textContent = format.format(new Date(time.dateTime))
  }
}

/** Writes local times, and shows the buttons that need JavaScript. @param {ParentNode} root */
function activate(root) {
  writeLocalTimes(root)
  showButtons(root)
}

/** Updates the page until nothing can change any more. @param {HTMLElement} main */
function followPayment(main) {
  let seconds = Number(main.dataset.poll)
  let failures = 0
  let updatedAt = new Date()
  /** @type {number | undefined} */
  let timer
  const stream = openStream(main.dataset.live ?? '', { onChange: () => void requestStatus(), onLost: pollLater })

  async function requestStatus() {
    clearTimeout(timer)
    if (document.visibilityState === 'hidden') return
    try {
      const response = await fetch(main.dataset.status + location.search, { headers: { accept: 'application/json' } })
      if (!response.ok) throw new Error(`status ${response.status}`)
      await apply(await response.json())
      failures = 0
      updatedAt = new Date()
    } catch {
      failures += 1
    }
    showConnection()
    stream.follow(seconds > 0)
    pollLater()
  }

  function pollLater() {
    clearTimeout(timer)
    // A page that changes within two seconds changes with time, and not with the payment.
    const pace = stream.isOpen() && seconds > 2 ? Math.max(seconds, STREAM_PAUSE) : seconds
    const pause = Math.min(pace * 1000 * 2 ** failures, MAX_PAUSE)
    if (seconds > 0) timer = window.setTimeout(() => void requestStatus(), pause)
  }

  /** @param {LiveStatus} status */
  async function apply(status) {
    seconds = status.poll ?? 0
    if (status.key === main.dataset.key) return
    const page = await loadPage(status.url)
    const next = page.querySelector('main')
    const panel = page.querySelector('.panel')
    if (!(next instanceof HTMLElement) || next.dataset.status === undefined || panel === null) {
      location.replace(status.url)
      return
    }
    history.replaceState(null, '', status.url)
    document.title = page.title
    activate(page)
    const shown = document.querySelector('.panel')
    if (shown !== null) patch(shown, document.importNode(panel, true))
    showMain(main, document.importNode(next, true))
    seconds = Number(main.dataset.poll ?? 0)
  }

  function showConnection() {
    const line = main.querySelector('[data-offline] > .line')
    if (!(line instanceof HTMLElement)) return
    const time = line.querySelector('time')
    if (time !== null) time.dateTime = updatedAt.toISOString()
    writeLocalTimes(line)
    line.hidden = navigator.onLine && failures < LOST_AFTER
  }

  document.addEventListener('visibilitychange', () => {
    stream.follow(seconds > 0)
    if (document.visibilityState === 'visible' && seconds > 0) void requestStatus()
  })
  addEventListener('offline', showConnection)
  addEventListener('online', () => {
    failures = 0
    if (seconds > 0) void requestStatus()
  })
  stream.follow(seconds > 0)
  pollLater()
}

/**
 * The server streams changes on a connection. A hidden page closes it.
 * @param {string} address @param {{ onChange: () => void, onLost: () => void }} listener
 */
function openStream(address, { onChange, onLost }) {
  const [live, known] = address.split('?knows=')
  let stamp = known ?? ''
  let isOpen = false
  /** @type {EventSource | undefined} */
  let events

  /** @param {boolean} isWanted */
  function follow(isWanted) {
    if (!isWanted || document.visibilityState === 'hidden') {
      events?.close()
      events = undefined
      isOpen = false
      return
    }
    // A refused stream is opened again only after the page was hidden. Until then, the page polls.
    if (events !== undefined) return
    events = new EventSource(`${live}?knows=${encodeURIComponent(stamp)}`)
    events.onopen = () => {
      isOpen = true
    }
    // The browser reports each failed retry. Only the first one changes the time of the next request.
    events.onerror = () => {
      if (!isOpen) return
      isOpen = false
      onLost()
    }
    events.onmessage = ({ lastEventId }) => {
      stamp = lastEventId
      onChange()
    }
  }
  return { follow, isOpen: () => isOpen }
}

/**
 * If the page is the same, only its differences change, and the focus stays. Another page replaces the content and gets
 * the focus, so that a screen reader begins there.
 * @param {HTMLElement} main @param {HTMLElement} next
 */
function showMain(main, next) {
  const isSamePage = main.dataset.page === next.dataset.page
  if (isSamePage) patch(main, next)
  else main.replaceChildren(...next.childNodes)
  copyAttributes(main, next)
  if (isSamePage && document.activeElement !== document.body) return
  main.focus({ preventScroll: true })
  if (!isSamePage) scrollTo(0, 0)
}

/** Makes `old` equal to `next` with as few changes as possible. @param {Element} old @param {Element} next */
function patch(old, next) {
  if (old.isEqualNode(next)) return
  if (old.nodeName !== next.nodeName) {
    old.replaceWith(next)
    return
  }
  copyAttributes(old, next)
  if (old.children.length !== next.children.length || hasOwnText(old) || hasOwnText(next)) {
    old.replaceChildren(...next.childNodes)
    return
  }
  const pairs = [...old.children].map((child, index) => [child, next.children[index]])
  for (const [child, nextChild] of pairs) if (child && nextChild) patch(child, nextChild)
}

/** Copies the attributes, except that an open fold stays open. @param {Element} old @param {Element} next */
function copyAttributes(old, next) {
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  // By name, because `attributes` is live and shrinks during the loop.
  for (const name of old.getAttributeNames()) if (!next.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
}

/** @param {Element} element */
function hasOwnText(element) {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '')
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null
  if (button?.dataset.print !== undefined) print()
})

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.dataset.busy === undefined) return
  const button = event.submitter ?? form.querySelector('button[type=submit]')
  if (button === null) return
  if (form.querySelector('[aria-disabled=true]') !== null) {
    event.preventDefault()
    return
  }
  button.setAttribute('aria-disabled', 'true')
  // An offer keeps its name: the hint below it changes.
  const label = button.querySelector('.hint') ?? button.querySelector('span')
  if (label === null) return
  const before = label.textContent
  label.textContent = form.dataset.busy
  // A page that the browser restores from its back/forward cache must be usable again.
  addEventListener('pageshow', () => {
    button.removeAttribute('aria-disabled')
    label.textContent = before
  })
})

activate(document)
const main = document.querySelector('main')
// The URL then keeps the state of the page for a reload and for status requests.
if (main?.dataset.here !== undefined) history.replaceState(null, '', main.dataset.here)
if (main?.dataset.opened !== undefined) void fetch(main.dataset.opened, { method: 'POST' }).catch(() => undefined)
if (main?.dataset.status !== undefined && main.dataset.poll !== undefined) followPayment(main)
