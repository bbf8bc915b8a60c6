/** Text that is already HTML. Everything else that goes into a page is escaped. */
export type Html = { readonly html: string }

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = strings.map((text, index) => {
    const value = values[index]
    return value === undefined ? text : text + render(value)
  })
  return { html: parts.join('') }
}

function render(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
  return 'html' in value ? value.html : value.map((each) => each.html).join('')
}

export const STYLESHEET_PATH = '/sandbox.css'

export const STYLESHEET = `
:root { background: light-dark(#fff, #161c1a); color: light-dark(#1a2220, #eef3f1); color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 30rem; padding: 1.5rem 1rem; }
a { color: light-dark(#0b57d0, #a8c7fa); }
h1 { font-size: 1.4rem; margin: 0 0 0.5rem; }
.amount { font-size: 2rem; font-weight: 700; margin: 0.5rem 0 1rem; }
.note { border: 1px solid; border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
dl { display: grid; gap: 0.25rem 1rem; grid-template-columns: max-content 1fr; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; margin: 0.75rem 0; } input { box-sizing: border-box; font: inherit; padding: 0.5rem; width: 100%; }
button { border: 1px solid; border-radius: 0.5rem; cursor: pointer; display: block; font: inherit; margin: 0.5rem 0; min-height: 2.75rem; padding: 0.5rem 1rem; width: 100%; }
button.main { background: #0b57d0; border-color: #0b57d0; color: #fff; font-weight: 600; }
:focus-visible { outline: 3px solid #f29900; outline-offset: 2px; }
body:has(.deliveries) { max-width: 60rem; } .deliveries { list-style: none; padding: 0; }
.deliveries li { border-top: 1px solid light-dark(#cdd7d3, #37433f); padding: 0.75rem 0; } .deliveries p { margin: 0; overflow-wrap: anywhere; }
.line { align-items: baseline; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; } .soft { color: light-dark(#4d5a56, #b3c0bb); }
.chip { border: 1px solid; border-radius: 1rem; font-size: 0.875rem; padding: 0 0.6rem; } .good { color: light-dark(#0a6b3d, #7fdcae); } .bad { color: light-dark(#a3231b, #ffb4ab); } .mail { white-space: pre-wrap; } summary { cursor: pointer; padding: 0.5rem 0; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
`

/** `script`: the URL of a script that the page can do without. */
export function page(title: string, body: Html, script?: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${STYLESHEET_PATH}">${
    script === undefined
      ? ''
      : html`
<script src="${script}" defer></script>`
  }
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.html
}
