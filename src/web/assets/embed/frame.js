// The script of a checkout in a merchant's frame. It reports the status of the payment to the merchant's page.

const main = document.querySelector('main')
/** The origin of the merchant's page, after that page sent `hello`. */
let shopOrigin = ''

/** Posts only to the page that sent `hello` from a listed origin. @param {object} message */
function post(message) {
  if (shopOrigin !== '') parent.postMessage(message, shopOrigin)
}

function postStatus() {
  post({ pinrail: 'status', payment: main?.dataset.payment, status: main?.dataset.state })
}

addEventListener('message', ({ source, origin, data }) => {
  const listed = main?.dataset.origins?.split(' ') ?? []
  if (source !== parent || !listed.includes(origin) || Object(data).pinrail !== 'hello') return
  shopOrigin = origin
  postStatus()
})

if (main !== null) new MutationObserver(postStatus).observe(main, { attributeFilter: ['data-state'] })

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') post({ pinrail: 'close' })
})

/** The time in which a tab opens, in milliseconds. */
const OPENED_AFTER = 3000
// The form opens a tab, so this page stays. If the browser opens no tab, the button must be usable again.
document.addEventListener('submit', () => {
  setTimeout(() => dispatchEvent(new Event('pageshow')), OPENED_AFTER)
})
