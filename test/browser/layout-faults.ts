/** Runs in the browser: words that stand in a column too narrow for them. */
export function narrowTexts(): string[] {
  const root = document.documentElement
  const narrow = [...document.querySelectorAll('h1, p, dt, dd, .name, .hint, .button span')]
    .filter((element) => element.checkVisibility() && getComputedStyle(element).clipPath === 'none')
    .filter((element) => (element.textContent?.trim().length ?? 0) > 3)
    .filter((element) => {
      const text = document.createRange()
      text.selectNodeContents(element)
      const lines = new Set([...text.getClientRects()].map(({ top }) => Math.round(top)))
      const { width, height } = element.getBoundingClientRect()
      // A short word on one line of its own is no column.
      return width < 64 && lines.size > 1 && height > 2 * Number.parseFloat(getComputedStyle(element).fontSize)
    })
    .map((element) => `narrow: ${element.className} ${element.textContent?.slice(0, 30)}`)
  return root.scrollWidth > root.clientWidth ? ['scrolls sideways', ...narrow] : narrow
}

/** Runs in the browser. What is pressed has at least 48 px: WCAG 2.2 asks for 24, a thumb for more. */
export function layoutFaults(): string[] {
  const root = document.documentElement
  const small = [...document.querySelectorAll('.button, .way, select, summary')]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 48)
    .map((element) => `too small: ${element.outerHTML.slice(0, 80)}`)
  return root.scrollWidth > root.clientWidth ? ['scrolls sideways', ...small] : small
}
