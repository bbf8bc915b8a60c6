import type { ComponentChildren } from 'preact'
import { ASSETS } from '../assets.ts'

export type DocsPageShape = {
  readonly title: string
  /** The address of a script. */
  readonly script?: string
  readonly children: ComponentChildren
}

/** A page of the documentation, with the colours and the type of the checkout. */
export function DocsPage({ title, script, children }: DocsPageShape) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title}: Pinrail`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={ASSETS.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={ASSETS.style} />
        <link rel="stylesheet" href={ASSETS.docsStyle} />
        {script !== undefined && <script src={script} type="module" />}
      </head>
      <body>
        <main id="main" class="docs brand">
          {children}
        </main>
      </body>
    </html>
  )
}
