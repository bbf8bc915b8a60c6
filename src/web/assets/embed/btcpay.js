// The functions of BTCPay's script that plugins of shops call. The checkout opens in the dialog of pinrail.js.
;(() => {
  const src = /** @type {HTMLScriptElement} */ (document.currentScript).src
  let base = src.replace(/\/modal\/btcpay\.js.*$/, '')
  /** @type {Record<string, string>} */
  const STATUSES = {
    created: 'New',
    pending: 'New',
    processing: 'Processing',
    under_review: 'Processing',
    settling: 'Processing',
    succeeded: 'Settled',
    expired: 'Expired',
  }
  /** @type {((message: { data: unknown }) => void)[]} */
  const listeners = []
  const nothing = () => {}
  let [willEnter, willLeave] = [nothing, nothing]
  /** @type {Promise<void> | undefined} */
  let loaded

  const load = () => {
    loaded ??= new Promise((resolve, reject) => {
      const script = document.createElement('script')
      script.src = new URL('/pinrail.js', src).href
      script.onload = () => resolve()
      script.onerror = reject
      document.head.append(script)
    })
    return loaded
  }

  /** @param {unknown} data */
  const notify = (data) => {
    for (const listener of listeners) listener({ data })
  }

  document.addEventListener('pinrail:status', (event) => {
    const { payment: invoiceId, status } = /** @type {CustomEvent} */ (event).detail
    notify({ invoiceId, status: STATUSES[status] ?? 'Invalid' })
  })
  document.addEventListener('pinrail:close', () => {
    willLeave()
    notify('close')
  })

  /** If the dialog cannot be loaded, the checkout opens as a page. @param {string} invoiceId */
  const showInvoice = (invoiceId) => {
    const address = `${base}/i/${encodeURIComponent(invoiceId)}`
    load().then(
      () => {
        willEnter()
        Object(window).pinrail.open(address)
      },
      () => location.assign(address),
    )
  }

  Object.assign(window, {
    btcpay: {
      showInvoice,
      showFrame: nothing,
      hideFrame: () => Object(window).pinrail?.close(),
      /** @param {string} url */
      setApiUrlPrefix: (url) => {
        base = url.replace(/\/+$/, '')
      },
      /** @param {(message: { data: unknown }) => void} listener */
      onModalReceiveMessage: (listener) => listeners.push(listener),
      /** @param {() => void} listener */
      onModalWillEnter: (listener) => {
        willEnter = listener
      },
      /** @param {() => void} listener */
      onModalWillLeave: (listener) => {
        willLeave = listener
      },
    },
  })
})()
