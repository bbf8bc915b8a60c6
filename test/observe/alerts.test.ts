import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { createDurations, createRegistry, watchBooks } from '../../src/observe/metrics.ts'

type Alert = {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string }
}
const file = (path: string): URL => new URL(`../../ops/${path}`, import.meta.url)
const { groups } = parse(readFileSync(file('prometheus/rules.yml'), 'utf8')) as { groups: { rules: Alert[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)

const registry = createRegistry(() => ({ total: 0, idle: 0, waiting: 0 }))
const none = async (): Promise<never[]> => []
watchBooks(registry, { payments: none, attention: none, backlog: none, settled: none })
createDurations(registry)

/** Names of series that an expression asks for, with the labels that stand beside them. */
function asked(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:pinrail|http|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name: name.replace(/_(?:bucket|count|sum)$/, ''),
      labels: [...labels.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
    }),
  )
}

test.each(alerts.map((alert) => [alert.alert, alert] as const))(
  '%s asks only for what the code tells, and has its page',
  (name, { expr, labels, annotations, for: held }) => {
    const series = asked(expr)
    expect(series.length).toBeGreaterThan(0)
    for (const { name: metric, labels: wanted } of series) {
      const known = registry.getSingleMetric(metric) as unknown as { labelNames: string[] } | undefined
      expect([metric, known !== undefined]).toEqual([metric, true])
      for (const label of wanted) expect([metric, known!.labelNames]).toEqual([metric, expect.arrayContaining([label])])
    }
    expect([labels.severity, held]).toEqual([
      expect.stringMatching(/^(?:page|ticket)$/),
      expect.stringMatching(/^\d+m$/),
    ])
    expect(annotations.summary.length).toBeGreaterThan(10)
    const page = readFileSync(file(`runbooks/${name}.md`), 'utf8')
    expect(page).toMatch(new RegExp(`^# ${name}\n[^]*\\*\\*What to do`))
  },
)

test('every page of the runbook belongs to an alert', () => {
  const pages = readdirSync(file('runbooks/')).map((name) => name.replace(/\.md$/, ''))
  expect(pages.sort()).toEqual(alerts.map(({ alert }) => alert).sort())
})
