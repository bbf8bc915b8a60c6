// Of a checkout in a frame of a shop's page: tells that page how the payment stands, and nothing else.

const main = document.querySelector('main')
/** The shop's, once its page has asked. */
let shop = ''

/** Only to the page that asked, and only if it is still one that the shop has listed. @param {object} message */
function say(message) {
  if (shop !== '') parent.postMessage(message, shop)
}

function sayStatus() {
  say({ pinrail: 'status', payment: main?.dataset.payment, status: main?.dataset.state })
}

addEventListener('message', ({ source, origin, data }) => {
  const listed = main?.dataset.origins?.split(' ') ?? []
  if (source !== parent || !listed.includes(origin) || Object(data).pinrail !== 'hello') return
  shop = origin
  sayStatus()
})

if (main !== null) new MutationObserver(sayStatus).observe(main, { attributeFilter: ['data-state'] })

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') say({ pinrail: 'close' })
})

/** In milliseconds; a tab that opens is there before. */
const OPENED_AFTER = 3000
// The form goes on in a tab, so this page stays. A browser that opens none must leave its button usable.
document.addEventListener('submit', () => {
  setTimeout(() => dispatchEvent(new Event('pageshow')), OPENED_AFTER)
})
