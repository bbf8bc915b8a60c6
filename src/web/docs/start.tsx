import { type DocsFrame, type DocsGroup, inLanguage, renderDocs } from './docs-page.tsx'

export function renderStart(frame: DocsFrame): string {
  return renderDocs({
    frame,
    title: 'Documentation',
    lead: START_LEAD,
    headings: [],
    children: (
      <>
        {frame.groups.map(({ name, places }, index) => (
          <section key={name} aria-labelledby={`part-${index}`}>
            <h2 id={`part-${index}`}>{name}</h2>
            <ul class="places">
              {places
                .filter(({ path }) => path !== frame.path)
                .map(({ path, title, lead }) => (
                  <li key={path}>
                    <a href={inLanguage(path, frame.language)}>{title}</a>
                    <p>{lead}</p>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        <section aria-labelledby="programs">
          <h2 id="programs">For programs</h2>
          <p>
            <a href="/openapi.json">The OpenAPI document</a> has every operation. <a href="/llms.txt">llms.txt</a> lists
            these pages, and each of them as Markdown.
          </p>
        </section>
      </>
    ),
  })
}

export const START_LEAD =
  'Charge a buyer in fiat money, with the method that you choose. Receive USDC on Polygon, final, in your own wallet.'

/** Writes the file llms.txt (https://llmstxt.org): a title, a description, and links. */
export function llmsText(
  groups: readonly DocsGroup[],
  { name, publicUrl }: { name: string; publicUrl: string },
): string {
  const parts = groups.map(({ name: group, places }) =>
    [`## ${group}`, '', ...places.map(({ path, title, lead }) => `- [${title}](${publicUrl}${path}.md): ${lead}`)].join(
      '\n',
    ),
  )
  return [
    `# ${name}`,
    `> ${START_LEAD}`,
    ...parts,
    `## For programs\n\n- [OpenAPI 3.1](${publicUrl}/openapi.json): every operation, with its schemas`,
  ]
    .join('\n\n')
    .concat('\n')
}
