// Opens the checkout in a dialog on the merchant's page. Without this script, the same link opens it as a page.
;(() => {
  const { origin: home } = new URL(/** @type {HTMLScriptElement} */ (document.currentScript).src)
  /** @type {Record<string, string>} */
  const CLOSE = {
    ar: 'إغلاق',
    de: 'Schließen',
    el: 'Κλείσιμο',
    es: 'Cerrar',
    fr: 'Fermer',
    hi: 'बंद करें',
    hu: 'Bezárás',
    it: 'Chiudi',
    nl: 'Sluiten',
    pl: 'Zamknij',
    pt: 'Fechar',
    ro: 'Închide',
    sv: 'Stäng',
  }
  const MAY = 'scripts same-origin forms popups popups-to-escape-sandbox top-navigation-by-user-activation'
  /** @type {{ dialog: HTMLDialogElement, frame: HTMLIFrameElement } | undefined} */
  let shown
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer

  /** @param {string} name @param {object} [detail] */
  const emit = (name, detail) => document.dispatchEvent(new CustomEvent(`pinrail:${name}`, { detail }))

  /** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {string} css @param {Node[]} inside */
  function make(tag, css, ...inside) {
    const made = document.createElement(tag)
    made.style.cssText = css
    made.append(...inside)
    return made
  }

  /** @param {string} address @param {string} [label] */
  function open(address, label = 'Pinrail') {
    const url = new URL(address, home)
    if (url.origin !== home || !/^\/(c|btcpay\/i)\/[^/]+$/.test(url.pathname)) throw TypeError(`No checkout: ${url}`)
    shown?.dialog.remove()
    const frame = make('iframe', 'border:0;flex:1;width:100%')
    const close = make('button', 'width:44px;height:44px;border:0;background:0;color:inherit;font-size:20px')
    const name = make('b', 'flex:1;padding:0 16px')
    const bar = make('div', 'align-items:center;display:flex;font:16px system-ui', name, close)
    const box = make(
      'div',
      'background:canvas;color:canvastext;color-scheme:light dark;display:flex;flex-direction:column;width:min(100vw,480px);height:min(100dvh,860px)',
      bar,
      frame,
    )
    const dialog = make(
      'dialog',
      'background:#0009;border:0;display:grid;margin:0;min-height:100%;min-width:100%;padding:0;place-items:center',
      box,
    )
    name.textContent = dialog.ariaLabel = frame.title = label
    close.textContent = '✕'
    close.ariaLabel = CLOSE[document.documentElement.lang.slice(0, 2)] ?? 'Close'
    close.onclick = () => dialog.close()
    dialog.onclose = () => {
      clearTimeout(timer)
      dialog.remove()
      shown = undefined
      emit('close')
    }
    frame.setAttribute('sandbox', MAY.replace(/^| /g, ' allow-'))
    frame.allow = 'clipboard-write'
    frame.src = `${home}${url.pathname}/frame`
    frame.onload = () => {
      clearTimeout(timer)
      frame.contentWindow?.postMessage({ pinrail: 'hello' }, home)
      // A browser that refuses the frame reports no error, so the script waits for a message.
      timer = setTimeout(() => frame.isConnected && location.assign(url), 4000)
    }
    shown = { dialog, frame }
    document.body.append(dialog)
    dialog.showModal()
  }

  addEventListener('message', ({ source, origin, data }) => {
    if (origin !== home || !source || source !== shown?.frame.contentWindow) return
    clearTimeout(timer)
    const { pinrail, payment, status } = Object(data)
    if (pinrail === 'close') shown.dialog.close()
    if (pinrail === 'status') emit('status', { payment, status })
  })

  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-pinrail]') : null
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button > 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.dataset.pinrail === 'tab') link.target = '_blank'
    else {
      open(link.href, link.textContent.trim())
      event.preventDefault()
    }
  })

  Object.assign(window, { pinrail: { open, close: () => shown?.dialog.close() } })
})()
