// Copy buttons, passkeys, wallets, previews and keyboard shortcuts. The pages work without this script, except for
// passkeys and wallets of the browser.
import { showButtons } from '../kit/copy.js'
import { loadPage } from '../kit/load-page.js'

/** @type {(selector: string) => any[]} Elements whose type the checker cannot infer from the selector. */
const all = (selector) => [...document.querySelectorAll(selector)]

showButtons(document)

/** Shows the forms below `root` that a wallet of the browser can sign. @param {ParentNode} root */
const showSigning = (root) => {
  if (!('ethereum' in window)) return
  for (const form of root.querySelectorAll('form[data-sign]')) if (form instanceof HTMLElement) form.hidden = false
  for (const line of root.querySelectorAll('[data-unsigned]')) if (line instanceof HTMLElement) line.hidden = true
}
showSigning(document)
window.addEventListener('ethereum#initialized', () => showSigning(document))

// The page of a payment or a refund reloads its content with each change, and keeps the open folds.
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
    // What a person has typed stays.
    const typed = all('[data-follow] textarea').map(({ value }) => value)
    page.replaceChildren(...document.importNode(fresh, true).childNodes)
    for (const [index, field] of all('[data-follow] textarea').entries()) field.value = typed[index] ?? ''
    showButtons(page)
    showSigning(page)
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
  // Changes that the stream does not report.
  setInterval(() => {
    if (!document.hidden && page.querySelector('[data-changing]')) void refresh()
  }, 15_000)
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

// A wallet of the browser (EIP-1193) signs the data of a form (EIP-712), and the form is sent with the signature.
document.addEventListener('submit', (/** @type {any} */ event) => {
  const form = event.target
  if (form.dataset.sign === undefined || form.elements.namedItem('signature').value !== '') return
  event.preventDefault()
  void signForm(form)
})

/** @param {any} form */
async function signForm(form) {
  const failed = form.querySelector('.error')
  failed.dataset.general ??= failed.textContent
  failed.hidden = true
  try {
    form.elements.namedItem('signature').value = await signTyped(JSON.parse(form.dataset.sign))
    form.requestSubmit()
  } catch (/** @type {any} */ error) {
    failed.textContent = failed.dataset[SIGN_ERRORS[error?.code] ?? 'general']
    failed.hidden = false
  }
}

/** By the codes of EIP-1193 and EIP-3085, and of wallets with a request that is open. @type {Record<string, string>} */
const SIGN_ERRORS = { 4001: 'refused', 4902: 'chain', '-32002': 'pending', account: 'account' }

/** @param {any} data */
async function signTyped(data) {
  /** @type {any} */
  const wallet = Reflect.get(window, 'ethereum')
  const { from } = data.message
  const accounts = await wallet.request({ method: 'eth_requestAccounts' })
  if (!accounts.some((/** @type {string} */ account) => account.toLowerCase() === from))
    throw Object.assign(new Error('another account'), { code: 'account' })
  const chainId = `0x${data.domain.chainId.toString(16)}`
  if ((await wallet.request({ method: 'eth_chainId' })) !== chainId)
    await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] })
  return wallet.request({ method: 'eth_signTypedData_v4', params: [from, JSON.stringify(data)] })
}

// Headings that contain every typed word, below the field. Enter searches the whole text.
for (const form of all('form[data-index]')) {
  const list = document.createElement('ul')
  list.className = 'found'
  list.hidden = true
  const count = document.createElement('p')
  count.className = 'unseen'
  count.setAttribute('role', 'status')
  form.after(list, count)
  const field = form.elements.namedItem('q')
  /** @type {Promise<[path: string, name: string][]> | undefined} */
  let places
  const show = async () => {
    // A refusal is JSON too.
    places ??= fetch(form.dataset.index).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer)))
    const known = await places.catch(() => {
      places = undefined
      return []
    })
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = known.filter(
      ([, name]) => words.length > 0 && words.every((/** @type {string} */ word) => name.toLowerCase().includes(word)),
    )
    list.replaceChildren(
      ...found.slice(0, 8).map(([path, name]) => {
        const [item, link] = [document.createElement('li'), document.createElement('a')]
        link.href = path
        link.textContent = name
        item.append(link)
        return item
      }),
    )
    list.hidden = found.length === 0
    count.textContent = words.length === 0 ? '' : `${found.length} headings`
  }
  field.addEventListener('input', () => void show())
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
