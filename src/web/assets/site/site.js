// Copy buttons, passkeys, previews and keyboard shortcuts. The pages work without this script, except for passkeys.
import { showButtons } from '../kit/copy.js'
import { loadPage } from '../kit/load-page.js'

/** @type {(selector: string) => any[]} Elements whose type the checker cannot infer from the selector. */
const all = (selector) => [...document.querySelectorAll(selector)]

showButtons(document)

// The page of a payment reloads its content with each change, and keeps the open folds.
for (const page of all('[data-follow]')) {
  const announcement = document.createElement('p')
  announcement.className = 'unseen'
  announcement.setAttribute('role', 'status')
  document.body.append(announcement)
  const refresh = async () => {
    const fresh = (await loadPage(location.href).catch(() => null))?.querySelector('[data-follow]')
    if (!fresh || fresh.textContent === page.textContent) return
    const open = all('[data-follow] details[open] > summary').map((summary) => summary.textContent)
    for (const fold of fresh.querySelectorAll('details'))
      fold.open ||= open.includes(fold.querySelector('summary')?.textContent)
    const focus = document.activeElement?.closest('[data-follow]') ? document.activeElement?.textContent : null
    page.replaceChildren(...document.importNode(fresh, true).childNodes)
    showButtons(page)
    if (focus)
      all('[data-follow] :is(a, button, summary)')
        .find(({ textContent }) => textContent === focus)
        ?.focus()
    announcement.textContent = page.querySelector('.lead')?.textContent ?? ''
  }
  const stream = new EventSource(page.dataset.follow)
  stream.onmessage = () => {
    void refresh()
    // Webhook deliveries follow a moment later, and the stream does not report them.
    setTimeout(() => void refresh(), 3000)
  }
}

// Countdowns. The server sends the time that is left, so that a wrong clock of the device does not matter.
for (const timer of all('[data-left]')) {
  const began = performance.now()
  const [hours, minutes] = timer.querySelectorAll('b')
  setInterval(() => {
    const left = Math.max(0, Math.ceil((Number(timer.dataset.left) - (performance.now() - began)) / 60_000))
    hours.textContent = String(Math.floor(left / 60))
    minutes.textContent = String(left % 60)
  }, 10_000)
}

// The preview and the hints of a form, while a person types. The server checks the form again when it is sent.
for (const form of all('form[data-preview]')) {
  const frame = all('.phone iframe')[0]
  const follow = async () => {
    /** @type {any} */
    const written = new FormData(form)
    const fields = new URLSearchParams(written)
    for (const name of ['once', '_form', 'logo', 'remove_logo']) fields.delete(name)
    // Without a new history entry, so that Back leads to the previous page.
    frame.contentWindow.location.replace(`${form.dataset.preview}?${fields}`)
    if (!form.dataset.hints) return
    const answer = await fetch(`${form.dataset.hints}?${fields}`).catch(() => null)
    if (!answer?.ok) return
    const hints = await answer.json()
    for (const line of all('[data-hint]')) {
      const hint = hints[line.dataset.hint]
      line.textContent = hint?.text ?? ''
      line.className = `hint toned ${hint?.tone ?? 'quiet'}`
    }
  }
  /** @type {any} */
  let timer
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void follow(), 300)
  })
}

// A color picker writes its value into its field.
for (const picker of all('input[data-fills]')) {
  picker.hidden = false
  picker.addEventListener('input', () => {
    for (const field of all(`#${picker.dataset.fills}`)) field.value = picker.value
  })
}

// WebAuthn Level 3: the browser parses and writes the JSON.
const possible = typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'
for (const form of possible ? all('form[data-passkey]') : []) {
  form.hidden = false
  const failed = form.querySelector('.error')
  const general = failed.textContent
  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    const answer = form.elements.namedItem('answer')
    if (answer.value !== '') return
    event.preventDefault()
    failed.hidden = true
    try {
      const options = JSON.parse(form.dataset.options)
      /** @type {any} */
      const credential =
        form.dataset.passkey === 'create'
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
      answer.value = JSON.stringify(credential.toJSON())
      form.requestSubmit()
    } catch (/** @type {any} */ error) {
      // WebAuthn Level 3, 5.1.3: the device already has one of `excludeCredentials`.
      failed.textContent = error?.name === 'InvalidStateError' ? failed.dataset.known : general
      failed.hidden = false
    }
  })
}

// `/` searches, `j` and `k` move along the rows, `g` and a letter open a page. Not while a person types.
/** @type {Record<string, string>} */
const PLACES = {
  o: '/dashboard',
  p: '/dashboard/payments',
  l: '/dashboard/links',
  b: '/dashboard/balance',
  k: '/dashboard/keys',
  w: '/dashboard/webhooks',
}
let isGoPressed = false
document.addEventListener('keydown', (/** @type {any} */ event) => {
  const typing = event.target.closest?.('input, textarea, select')
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !document.body.classList.contains('app')) return
  const { key } = event
  const place = isGoPressed ? PLACES[key] : undefined
  isGoPressed = key === 'g'
  if (place) location.assign(place)
  const [search] = all('input[type=search]')
  if (key === '/' && search) {
    event.preventDefault()
    search.focus()
  }
  if (key !== 'j' && key !== 'k') return
  const rows = all('main .row-link')
  const at = rows.indexOf(document.activeElement)
  rows[key === 'j' ? at + 1 : Math.max(0, at - 1)]?.focus()
})

// A click outside, or Escape, closes a menu.
document.addEventListener('click', (/** @type {any} */ event) => {
  for (const menu of all('details:is(.dropdown, .chip, .who)[open]'))
    if (!menu.contains(event.target)) menu.open = false
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  for (const menu of all('details:is(.dropdown, .chip, .who)[open]')) {
    menu.open = false
    menu.querySelector('summary').focus()
  }
})
