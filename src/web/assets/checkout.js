// The pages work without this script. With it an open page stays true without loading again, times are in the zone of
// the device, links are copied, and a second press of a button asks nothing twice.

/** @typedef {import('../checkout/live.ts').LiveStatus} LiveStatus */

/** Never slower than this between two questions, in milliseconds, however often the network fails. */
const MAX_PAUSE = 30_000
/** Seconds between two questions while the server tells of changes. */
const TOLD_PAUSE = 15
/** So many questions in a row that fail are a lost connection, and not a hiccup. */
const LOST_AFTER = 2

/** The language whose formats the page has: that of its texts, and which digits. */
const { formats } = document.documentElement.dataset
const HOURS = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
/** The styles of `src/web/messages/words.ts`. @type {Record<string, Intl.DateTimeFormatOptions>} */
const TIME_STYLES = {
  time: HOURS,
  seconds: { ...HOURS, second: '2-digit' },
  day: { ...HOURS, day: 'numeric', month: 'short' },
  long: { ...HOURS, day: 'numeric', month: 'long', year: 'numeric' },
}

/** Turns every moment below `root` into the zone of this device. @param {ParentNode} root */
function localTimes(root) {
  for (const time of root.querySelectorAll('time')) {
    if (time.dateTime === '') continue
    const format = new Intl.DateTimeFormat(formats, TIME_STYLES[time.dataset.style ?? 'time'])
    time.textContent = format.format(new Date(time.dateTime))
  }
}

/** What the server's page has hidden because it works with a script only. @param {ParentNode} root */
function enliven(root) {
  localTimes(root)
  for (const button of root.querySelectorAll('button[data-copy], button[data-print]'))
    if (button instanceof HTMLButtonElement) button.hidden = false
}

/** Follows the payment until nothing can change any more. @param {HTMLElement} main */
function followPayment(main) {
  let seconds = Number(main.dataset.poll)
  let failures = 0
  let trueAt = new Date()
  /** @type {number | undefined} */
  let timer
  const news = hearNews(main.dataset.live ?? '', { heard: () => void ask(), lost: askAgain })

  async function ask() {
    clearTimeout(timer)
    if (document.visibilityState === 'hidden') return
    try {
      const answer = await fetch(main.dataset.status + location.search, { headers: { accept: 'application/json' } })
      if (!answer.ok) throw new Error(`status ${answer.status}`)
      await apply(await answer.json())
      failures = 0
      trueAt = new Date()
    } catch {
      failures += 1
    }
    showConnection()
    news.follow(seconds > 0)
    askAgain()
  }

  function askAgain() {
    clearTimeout(timer)
    // What comes in a second or two is a matter of time, and no change of the payment.
    const pace = news.isTold() && seconds > 2 ? Math.max(seconds, TOLD_PAUSE) : seconds
    const pause = Math.min(pace * 1000 * 2 ** failures, MAX_PAUSE)
    if (seconds > 0) timer = window.setTimeout(() => void ask(), pause)
  }

  /** @param {LiveStatus} news */
  async function apply(news) {
    seconds = news.poll ?? 0
    if (news.key === main.dataset.key) return
    const page = await loadPage(news.url)
    const next = page.querySelector('main')
    const panel = page.querySelector('.panel')
    if (!(next instanceof HTMLElement) || next.dataset.status === undefined || panel === null) {
      location.replace(news.url)
      return
    }
    history.replaceState(null, '', news.url)
    document.title = page.title
    enliven(page)
    const shown = document.querySelector('.panel')
    if (shown !== null) become(shown, document.importNode(panel, true))
    showMain(main, document.importNode(next, true))
    seconds = Number(main.dataset.poll ?? 0)
  }

  function showConnection() {
    const line = main.querySelector('[data-offline] > .line')
    if (!(line instanceof HTMLElement)) return
    const time = line.querySelector('time')
    if (time !== null) time.dateTime = trueAt.toISOString()
    localTimes(line)
    line.hidden = navigator.onLine && failures < LOST_AFTER
  }

  document.addEventListener('visibilitychange', () => {
    news.follow(seconds > 0)
    if (document.visibilityState === 'visible' && seconds > 0) void ask()
  })
  addEventListener('offline', showConnection)
  addEventListener('online', () => {
    failures = 0
    if (seconds > 0) void ask()
  })
  news.follow(seconds > 0)
  askAgain()
}

/**
 * The server tells of changes on a connection. A page that nobody looks at gives it back.
 * @param {string} address @param {{ heard: () => void, lost: () => void }} listener
 */
function hearNews(address, { heard, lost }) {
  const [live, known] = address.split('?knows=')
  let stamp = known ?? ''
  let isTold = false
  /** @type {EventSource | undefined} */
  let events

  /** @param {boolean} isWanted */
  function follow(isWanted) {
    if (!isWanted || document.visibilityState === 'hidden') {
      events?.close()
      events = undefined
      isTold = false
      return
    }
    // One that was refused is not asked for again before the page is looked at anew: the page asks by itself.
    if (events !== undefined) return
    events = new EventSource(`${live}?knows=${encodeURIComponent(stamp)}`)
    events.onopen = () => {
      isTold = true
    }
    // Again and again while there is no connection: only the first one changes when the page asks next.
    events.onerror = () => {
      if (!isTold) return
      isTold = false
      lost()
    }
    events.onmessage = ({ lastEventId }) => {
      stamp = lastEventId
      heard()
    }
  }
  return { follow, isTold: () => isTold }
}

/**
 * A page of ours as a document. A request that parses by itself needs no HTML sink, which the page's policy forbids.
 * @param {string} url @returns {Promise<Document>}
 */
function loadPage(url) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('GET', url)
    request.responseType = 'document'
    request.onload = () =>
      request.status === 200 && request.responseXML !== null
        ? resolve(request.responseXML)
        : reject(new Error('no page'))
    request.onerror = () => reject(new Error('no connection'))
    request.send()
  })
}

/**
 * The same page changes where it differs, and the focus stays where it is. Another page takes its place, and then the
 * focus goes to it, so that a reader of the page begins there.
 * @param {HTMLElement} main @param {HTMLElement} next
 */
function showMain(main, next) {
  const isSamePage = main.dataset.page === next.dataset.page
  if (isSamePage) become(main, next)
  else main.replaceChildren(...next.childNodes)
  takeAttributes(main, next)
  if (isSamePage && document.activeElement !== document.body) return
  main.focus({ preventScroll: true })
  if (!isSamePage) scrollTo(0, 0)
}

/** Makes `old` equal to `next` with as few changes as possible. @param {Element} old @param {Element} next */
function become(old, next) {
  if (old.isEqualNode(next)) return
  if (old.nodeName !== next.nodeName) {
    old.replaceWith(next)
    return
  }
  takeAttributes(old, next)
  if (old.children.length !== next.children.length || hasOwnText(old) || hasOwnText(next)) {
    old.replaceChildren(...next.childNodes)
    return
  }
  const pairs = [...old.children].map((child, index) => [child, next.children[index]])
  for (const [child, nextChild] of pairs) if (child && nextChild) become(child, nextChild)
}

/** What the buyer has opened stays open. @param {Element} old @param {Element} next */
function takeAttributes(old, next) {
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  // By name: the list of attributes shrinks while it is walked.
  for (const name of old.getAttributeNames()) if (!next.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
}

/** @param {Element} element */
function hasOwnText(element) {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '')
}

/** @param {HTMLElement} button */
async function copy(button) {
  const label = button.querySelector('span')
  if (label === null) return
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? '')
    const before = [...label.childNodes]
    label.textContent = button.dataset.done ?? ''
    setTimeout(() => label.replaceChildren(...before), 3000)
  } catch {
    // No permission: the text is selected instead, ready for the buyer's own copy command.
    const value = button.parentElement?.querySelector('.value')
    if (value) getSelection()?.selectAllChildren(value)
  }
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null
  if (button?.dataset.copy !== undefined) void copy(button)
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
  // The row of a way keeps its name.
  const label = button.querySelector('.hint') ?? button.querySelector('span')
  if (label === null) return
  const before = label.textContent
  label.textContent = form.dataset.busy
  // A page that comes back from the browser's memory must be usable again.
  addEventListener('pageshow', () => {
    button.removeAttribute('aria-disabled')
    label.textContent = before
  })
})

enliven(document)
const main = document.querySelector('main')
// Loading again, and every question about the status, then says the same.
if (main?.dataset.here !== undefined) history.replaceState(null, '', main.dataset.here)
if (main?.dataset.opened !== undefined) void fetch(main.dataset.opened, { method: 'POST' }).catch(() => undefined)
if (main?.dataset.status !== undefined && main.dataset.poll !== undefined) followPayment(main)
