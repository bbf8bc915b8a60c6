import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import {
  createCallDurations,
  createDurations,
  createRegistry,
  watchBooks,
  watchPages,
} from '../../src/observe/metrics.ts'
import { watchSettlement } from '../../src/observe/settlement.ts'

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
watchBooks(registry, { payments: none, attention: none, backlog: none, settled: none, partners: none })
watchSettlement(registry, {
  queue: none,
  cursor: none,
  lanes: none,
  attention: none,
  treasuries: none,
  gas: none,
  nodes: none,
  calls: none,
  quorum: none,
})
createDurations(registry)
watchPages(registry, () => 0)
createCallDurations(registry)

/** Names of series that an expression asks for, with the labels that stand beside them. */
function asked(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:pinrail|http|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name: name.replace(/_(?:bucket|count|sum)$/, ''),
      labels: [...labels.matchAll(/(\w+)\s*(?:=~?|!=)/g)].map(([, label = '']) => label),
    }),
  )
}

function expectTold(expr: string): void {
  const series = asked(expr)
  expect(series.length).toBeGreaterThan(0)
  // What an expression groups by must be a label of what it groups.
  const groups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  for (const { name: metric, labels: wanted } of series) {
    const known = registry.getSingleMetric(metric) as unknown as { labelNames: string[] } | undefined
    expect([metric, known !== undefined]).toEqual([metric, true])
    for (const label of wanted) expect([metric, known!.labelNames]).toEqual([metric, expect.arrayContaining([label])])
  }
  const labels = series.flatMap(({ name }) => [
    ...(registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames,
    'le',
  ])
  expect(labels).toEqual(expect.arrayContaining(groups))
}

test.each(alerts.map((alert) => [alert.alert, alert] as const))(
  '%s asks only for what the code tells, and has its page',
  (name, { expr, labels, annotations, for: held }) => {
    expectTold(expr)
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

type Panel = { title: string; targets: { expr: string; legendFormat: string }[] }
const { panels } = JSON.parse(readFileSync(file('grafana/pinrail.json'), 'utf8')) as { panels: Panel[] }

test.each(panels.map((panel) => [panel.title, panel] as const))(
  'the panel "%s" of the dashboard asks only for what the code tells',
  (_title, { targets }) => {
    for (const { expr } of targets) expectTold(expr)
  },
)

test('the dashboard shows all that is told of settlement', async () => {
  const told = (await registry.getMetricsAsJSON()).map(({ name }) => name)
  const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => asked(expr).map(({ name }) => name)))
  const settlement = told.filter((name) => /^pinrail_(?:payouts|cursor|lane|treasury|gas|node|settlement_)/.test(name))
  expect(settlement.length).toBeGreaterThan(15)
  const apart = ['pinrail_payouts_usdc', 'pinrail_cursor_block', 'pinrail_settlement_attention_oldest_seconds']
  expect(settlement.filter((name) => !shown.includes(name) && !apart.includes(name))).toEqual([])
})
