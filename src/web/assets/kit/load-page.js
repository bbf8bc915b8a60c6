/**
 * Loads a page of this server as a document. The request parses the HTML, because the page's policy forbids HTML sinks.
 * @param {string} url @returns {Promise<Document>}
 */
export function loadPage(url) {
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
