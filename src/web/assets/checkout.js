// The pages work without this script. With it an open page follows the payment without loading again, copies links,
// and keeps a second press of a button from asking twice.

/** @typedef {import('../checkout/page.tsx').LiveStatus} LiveStatus */

/** Never slower than this between two questions, in milliseconds, however often the network fails. */
const MAX_PAUSE = 30_000

/** @param {HTMLElement} main @param {string} url */
function followPayment(main, url) {
  let seconds = Number(main.dataset.poll)
  let failures = 0
  /** @type {number | undefined} */
  let timer

  async function ask() {
    clearTimeout(timer)
    if (document.visibilityState === 'hidden') return
    try {
      const answer = await fetch(url + location.search, { headers: { accept: 'application/json' } })
      if (!answer.ok) throw new Error(`status ${answer.status}`)
      show(await answer.json())
      failures = 0
    } catch {
      failures += 1
    }
    askAgain()
  }

  function askAgain() {
    const pause = Math.min(seconds * 1000 * 2 ** failures, MAX_PAUSE)
    if (seconds > 0) timer = window.setTimeout(() => void ask(), pause)
  }

  /** @param {LiveStatus} news */
  function show(news) {
    if (news.key !== main.dataset.key) {
      seconds = 0
      // What the buyer asked for by a link (another method) was a choice of the page that is over now.
      location.replace(location.pathname)
      return
    }
    seconds = news.poll ?? 0
    if (news.steps !== null) showProgress(main, news.steps, news.message ?? '')
  }

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && seconds > 0) void ask()
  })
  askAgain()
}

/** @param {HTMLElement} main @param {NonNullable<LiveStatus['steps']>} steps @param {string} message */
function showProgress(main, steps, message) {
  const items = main.querySelectorAll('.steps > li')
  for (const [index, item] of items.entries()) {
    const step = steps[index]
    if (!(item instanceof HTMLElement) || step === undefined || item.dataset.state === step.state) continue
    item.dataset.state = step.state
    item.querySelector('[data-word]')?.replaceChildren(step.word)
    if (step.state === 'current') item.setAttribute('aria-current', 'step')
    else item.removeAttribute('aria-current')
  }
  const now = main.querySelector('[data-now]')
  // A live region is read out when its text changes, so it is left alone when it does not.
  if (now !== null && now.textContent !== message) now.textContent = message
}

/** @param {Element} field */
function offerCopy(field) {
  const button = field.querySelector('button')
  const input = field.querySelector('input')
  const said = field.querySelector('[role=status]')
  if (button === null || input === null) return

  async function copy() {
    if (button === null || input === null) return
    try {
      await navigator.clipboard.writeText(input.value)
      said?.replaceChildren(button.dataset.done ?? '')
    } catch {
      // No permission: the text is selected instead, ready for the buyer's own copy command.
      input.focus()
      input.select()
    }
  }

  button.hidden = false
  button.addEventListener('click', () => void copy())
}

/** @param {HTMLFormElement} form */
function pressOnce(form) {
  const button = form.querySelector('button[type=submit]')
  if (button === null) return
  const label = button.textContent
  form.addEventListener('submit', (event) => {
    if (button.getAttribute('aria-disabled') === 'true') {
      event.preventDefault()
      return
    }
    button.setAttribute('aria-disabled', 'true')
    button.textContent = form.dataset.busy ?? label
  })
  // A page that comes back from the browser's memory must be usable again.
  window.addEventListener('pageshow', () => {
    button.removeAttribute('aria-disabled')
    button.textContent = label
  })
}

for (const field of document.querySelectorAll('[data-copy]')) offerCopy(field)
for (const form of document.querySelectorAll('form[data-busy]')) if (form instanceof HTMLFormElement) pressOnce(form)
const main = document.querySelector('main')
if (main?.dataset.status !== undefined && main.dataset.poll !== undefined) followPayment(main, main.dataset.status)
