// Verifies a receipt in the browser. The receipt never leaves the page; the script only fetches the public keys, and the
// receipt if a link names one.
import { verifyReceipt } from '../../../verifier/verifier.js'

const TITLES = {
  proved: 'Proved: this payment was settled as the receipt says',
  wrong: 'Wrong: this receipt proves nothing',
  open: 'Incomplete: nothing is wrong, but not everything was checked',
}
const UNREADABLE =
  'The receipt of this payment is not there yet. It exists some seconds after the settlement: reload the page.'
const RESULTS = { holds: 'Passed', fails: 'Failed', open: 'Not checked' }

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function find(id, kind) {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`)
  return found
}

const form = find('verify', HTMLFormElement)
const receipt = find('receipt', HTMLTextAreaElement)
const file = find('file', HTMLInputElement)

file.addEventListener('change', () => {
  void file.files?.[0]?.text().then((text) => {
    receipt.value = text
  })
})

// The link on a receipt names it after the `#`.
const [, path] = /^#(\/c\/[\w-]+\/receipt\.json)$/.exec(location.hash) ?? []
if (path !== undefined) void load(path)

/** @param {string} from */
async function load(from) {
  const answer = await fetch(from).catch(() => null)
  if (answer?.ok !== true) {
    find('verdict', HTMLElement).textContent = UNREADABLE
    return
  }
  receipt.value = await answer.text()
  await verify()
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void verify()
})

async function verify() {
  const blockHash = find('block', HTMLInputElement).value.trim()
  const { verdict, checks } = await verifyReceipt(receipt.value, {
    blockHash: blockHash === '' ? undefined : blockHash,
    keys: await readKeys(form.dataset['keys'] ?? ''),
  })
  const title = find('verdict', HTMLElement)
  title.textContent = TITLES[verdict]
  title.dataset['verdict'] = verdict
  find('checks', HTMLElement).replaceChildren(
    ...checks.map(({ check, result, says }) => row(`${check}: ${RESULTS[result]}`, says)),
  )
}

/** Returns undefined if the keys cannot be fetched; the signature is then not checked. @param {string} url */
async function readKeys(url) {
  const answer = await fetch(url).catch(() => null)
  return answer?.ok === true ? (await answer.json()).keys : undefined
}

/** @param {string} term @param {string} text */
function row(term, text) {
  const [group, name, detail] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag))
  if (name !== undefined) name.textContent = term
  if (detail !== undefined) detail.textContent = text
  group?.append(name ?? '', detail ?? '')
  return group ?? ''
}
