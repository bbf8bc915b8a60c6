import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { ensurePromtool } from '../../scripts/setup/programs/promtool.ts'
import { createProgress } from '../../scripts/setup/progress.mjs'
import {
  createCallDurations,
  createDurations,
  createRegistry,
  watchBooks,
  watchPages,
} from '../../src/runtime/metrics.ts'
import { watchSettlement } from '../../src/runtime/settlement.ts'

describe('The series that the alerts use', () => {
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

  const registry = createRegistry('pinrail-test', () => ({ total: 0, idle: 0, waiting: 0 }))
  const none = async (): Promise<never[]> => []
  watchBooks(registry, {
    payments: none,
    attention: none,
    backlog: none,
    settled: none,
    applicants: none,
    partners: none,
    invariants: none,
    reconciled: none,
  })
  watchSettlement(registry, {
    queue: none,
    cursor: none,
    lanes: none,
    parts: none,
    attention: none,
    treasuries: none,
    gas: none,
    nodes: none,
    calls: none,
    quorum: none,
    float: none,
    exposures: none,
    refills: none,
    results: none,
  })
  createDurations(registry)
  watchPages(registry, () => 0)
  createCallDurations(registry)

  /** The names of series in an expression, with their labels. */
  function asked(expr: string): { name: string; labels: string[] }[] {
    return [...expr.matchAll(/\b((?:pinrail|http|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
      ([, name = '', labels = '']) => ({
        name: name.replace(/_(?:bucket|count|sum)$/, ''),
        labels: [...labels.matchAll(/(\w+)\s*(?:=~?|!=)/g)].map(([, label = '']) => label),
      }),
    )
  }

  function expectExported(expr: string): void {
    const series = asked(expr)
    expect(series.length).toBeGreaterThan(0)
    // An expression must group by labels of its series.
    const groups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
    for (const { name: metric, labels: wanted } of series) {
      expect([...registry.labels.keys()]).toContain(metric)
      const known = registry.labels.get(metric)
      for (const label of wanted) expect([metric, known]).toEqual([metric, expect.arrayContaining([label])])
    }
    const labels = series.flatMap(({ name }) => [...(registry.labels.get(name) ?? []), 'le'])
    expect(labels).toEqual(expect.arrayContaining(groups))
  }

  test.each(alerts.map((alert) => [alert.alert, alert] as const))(
    'the alert %s uses only series that the code exports, and has its page',
    (name, { expr, labels, annotations, for: held }) => {
      expectExported(expr)
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
    'the panel "%s" of the dashboard uses only series that the code exports',
    (_title, { targets }) => {
      for (const { expr } of targets) expectExported(expr)
    },
  )

  test('the dashboard shows all series of settlement', () => {
    const exported = [...registry.labels.keys()]
    const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => asked(expr).map(({ name }) => name)))
    const settlement = exported.filter((name) =>
      /^pinrail_(?:payouts|cursor|lane|treasury|gas|node|settlement_)/.test(name),
    )
    expect(settlement.length).toBeGreaterThan(15)
    const apart = ['pinrail_payouts_usdc', 'pinrail_cursor_block', 'pinrail_settlement_attention_oldest_seconds']
    expect(settlement.filter((name) => !shown.includes(name) && !apart.includes(name))).toEqual([])
  })
})

/**
 * Each alert with the series that must raise it, and the same series just before that, evaluated by Prometheus's own
 * tool.
 */
describe('Alerts that are raised', () => {
  const RULES = fileURLToPath(new URL('../../ops/prometheus/rules.yml', import.meta.url))

  type Rule = { alert: string; for: string; labels: Record<string, string>; annotations: { summary: string } }
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  /** A value for each minute, in the notation of promtool: `4x30` is 4 for half an hour, `0+5x30` grows by 5. */
  type Series = Readonly<Record<string, string>>
  type Raising = {
    readonly bad: Series
    /** The highest value without an alert. */
    readonly fine: Series
    /** Labels of the alert in addition to its severity. */
    readonly labels?: Readonly<Record<string, string>>
    /** Minutes until the expression is true for the first time. */
    readonly from?: number
  }

  const always = (name: string, bad: number, fine: number): Pick<Raising, 'bad' | 'fine'> => ({
    bad: { [name]: `${bad}x60` },
    fine: { [name]: `${fine}x60` },
  })

  const CALLS = 'pinrail_partner_call_seconds_count'
  const ANSWERS = 'http_request_duration_seconds_count'
  const POSTS = `${ANSWERS}{method="POST",route=`
  const LIST = 'http_request_duration_seconds_bucket{route="/v1/payments"'

  const RAISED: Readonly<Record<string, Raising>> = {
    PinrailBooksUnreadable: {
      bad: { 'pinrail_books_readable{instance="a"}': '1x60', 'pinrail_books_readable{instance="b"}': '0x60' },
      fine: { 'pinrail_books_readable{instance="a"}': '1x60', 'pinrail_books_readable{instance="b"}': '1x60' },
    },
    PinrailNoWorker: { bad: { pinrail_open_pages: '7x60' }, fine: { pinrail_books_readable: '0x60' } },
    PinrailNoApi: { bad: { pinrail_books_readable: '1x60' }, fine: { pinrail_open_pages: '0x60' } },
    PinrailMailsLate: always('pinrail_backlog_oldest_seconds{queue="mails"}', 301, 300),
    PinrailMoneyWaits: {
      bad: { 'pinrail_attention{kind="late"}': '1x60', 'pinrail_attention_oldest_seconds{kind="late"}': '1801x60' },
      fine: { 'pinrail_attention{kind="late"}': '1x60', 'pinrail_attention_oldest_seconds{kind="late"}': '1800x60' },
      labels: { kind: 'late' },
    },
    PinrailApplicantsWait: always('pinrail_applicants_oldest_seconds', 86_401, 86_400),
    PinrailSuspendedMoneyWaits: always('pinrail_attention_oldest_seconds{kind="payouts_held"}', 604_801, 604_800),
    PinrailBooksDisagree: {
      ...always('pinrail_invariant_violations{invariant="partner_receivable_is_held"}', 1, 0),
      labels: { invariant: 'partner_receivable_is_held' },
    },
    PinrailBooksNotCompared: always('pinrail_reconciliation_age_seconds', 10_801, 10_800),
    PinrailPaymentsNotSettling: {
      ...always('pinrail_payments_oldest_seconds{status="settling",method="card"}', 901, 900),
      labels: { method: 'card' },
    },
    PinrailStartsPending: always('pinrail_backlog_oldest_seconds{queue="start_payment"}', 61, 60),
    PinrailCallbacksUnread: always('pinrail_backlog_oldest_seconds{queue="callbacks"}', 301, 300),
    PinrailPartnerFails: {
      bad: {
        [`${CALLS}{partner="wallet_app",outcome="answered"}`]: '0+4x60',
        [`${CALLS}{partner="wallet_app",outcome="unknown"}`]: '0+6x60',
      },
      fine: {
        [`${CALLS}{partner="wallet_app",outcome="answered"}`]: '0+6x60',
        [`${CALLS}{partner="wallet_app",outcome="unknown"}`]: '0+4x60',
      },
      labels: { partner: 'wallet_app' },
      from: 1,
    },
    PinrailDisputesUnread: {
      bad: { [`${CALLS}{partner="wallet_app",call="disputes",outcome="unknown"}`]: '0+1x60' },
      fine: {
        [`${CALLS}{partner="wallet_app",call="disputes",outcome="unknown"}`]: '0+1x60',
        [`${CALLS}{partner="wallet_app",call="disputes",outcome="answered"}`]: '0+1x60',
      },
      labels: { partner: 'wallet_app' },
      from: 1,
    },
    PinrailPartnerDown: {
      ...always('pinrail_partner_down_seconds{partner="card_partner",why="silent"}', 61, 60),
      labels: { partner: 'card_partner', why: 'silent' },
    },
    PinrailDeliveriesLate: always('pinrail_backlog{queue="deliveries"}', 1001, 1000),
    PinrailErrors: {
      bad: { [`${ANSWERS}{status="200"}`]: '0+97x60', [`${ANSWERS}{status="503"}`]: '0+3x60' },
      fine: { [`${ANSWERS}{status="200"}`]: '0+99x60', [`${ANSWERS}{status="503"}`]: '0+1x60' },
      from: 1,
    },
    PinrailRouteFails: {
      bad: {
        [`${POSTS}"/v1/payments",status="201"}`]: '0+8x60',
        [`${POSTS}"/v1/payments",status="401"}`]: '0+900x60',
        [`${POSTS}"/v1/payments",status="500"}`]: '0+2x60',
        [`${ANSWERS}{method="GET",route="/assets/:name",status="200"}`]: '0+90000x60',
      },
      fine: {
        [`${POSTS}"/v1/payments",status="201"}`]: '0+18x60',
        [`${POSTS}"/v1/payments",status="500"}`]: '0+2x60',
        // The highest number that wakes nobody.
        [`${POSTS}"/c/:token/extend",status="500"}`]: '0 0 0 0 1 2 3 4 5 5 5 5 5 5 5 5 5 5 5 5',
      },
      labels: { route: '/v1/payments' },
      from: 3,
    },
    PinrailSlow: {
      bad: { [`${LIST},le="1"}`]: '0+98x60', [`${LIST},le="5"}`]: '0+100x60', [`${LIST},le="+Inf"}`]: '0+100x60' },
      fine: { [`${LIST},le="1"}`]: '0+100x60', [`${LIST},le="5"}`]: '0+100x60', [`${LIST},le="+Inf"}`]: '0+100x60' },
      from: 1,
    },
    PinrailConnectionsUsedUp: {
      bad: { 'pinrail_database_connections{state="waiting"}': '3x60' },
      // They wait, and get one.
      fine: { 'pinrail_database_connections{state="waiting"}': '3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0' },
    },
    PinrailSettlementPaused: always('pinrail_settlement_paused', 1, 0),
    PinrailPayoutsWait: {
      bad: { 'pinrail_payouts_oldest_seconds{state="broadcast"}': '601x60' },
      fine: {
        'pinrail_payouts_oldest_seconds{state="broadcast"}': '600x60',
        'pinrail_payouts_oldest_seconds{state="stopped"}': '9000x60',
      },
    },
    PinrailPartFails: {
      ...always('pinrail_settlement_part_failing_seconds{part="signing",cause="failure"}', 61, 60),
      labels: { part: 'signing', cause: 'failure' },
    },
    PinrailDailyLimit: {
      bad: { 'pinrail_payouts{state="stopped",reason="limit"}': '1x60' },
      fine: { 'pinrail_payouts{state="stopped",reason="funds"}': '1x60' },
    },
    PinrailPayoutsHeld: {
      bad: { 'pinrail_payouts{state="stopped",reason="blacklisted"}': '1x60' },
      fine: {
        'pinrail_payouts{state="stopped",reason="funds"}': '1x60',
        'pinrail_payouts{state="stopped",reason="limit"}': '1x60',
      },
      labels: { reason: 'blacklisted' },
    },
    PinrailCursorStuck: always('pinrail_cursor_age_seconds', 121, 120),
    PinrailCursorBehind: always('pinrail_cursor_lag_blocks', 301, 300),
    PinrailDepositsBehind: always('pinrail_cursor_deposits_behind_blocks', 301, 300),
    PinrailLaneQuarantined: {
      bad: {
        'pinrail_lane{wallet="0x1",status="quarantined"}': '1x60',
        'pinrail_lane{wallet="0x2",status="quarantined"}': '0x60',
      },
      fine: {
        'pinrail_lane{wallet="0x1",status="quarantined"}': '0x60',
        'pinrail_lane{wallet="0x1",status="active"}': '1x60',
      },
      labels: { wallet: '0x1' },
    },
    PinrailNotMined: { ...always('pinrail_lane_unmined_seconds{wallet="0x1"}', 301, 300), labels: { wallet: '0x1' } },
    PinrailLaneWithoutGas: {
      ...always('pinrail_lane{wallet="0x1",status="paused_gas"}', 1, 0),
      labels: { wallet: '0x1' },
    },
    PinrailGasMoneyLow: {
      bad: {
        'pinrail_gas_pol{role="funding",wallet="0x9"}': '49x60',
        'pinrail_gas_pol{role="relayer",wallet="0x1"}': '3x60',
      },
      fine: {
        'pinrail_gas_pol{role="funding",wallet="0x9"}': '50x60',
        'pinrail_gas_pol{role="relayer",wallet="0x1"}': '3x60',
      },
      labels: { wallet: '0x9' },
    },
    PinrailTreasuryTooLow: {
      bad: {
        'pinrail_treasury_usdc{role="current"}': '100x60',
        'pinrail_payouts_usdc{state="queued"}': '60x60',
        'pinrail_payouts_usdc{state="authorized"}': '41x60',
      },
      fine: {
        'pinrail_treasury_usdc{role="current"}': '101x60',
        // Two workers export the same payouts.
        'pinrail_payouts_usdc{state="queued",instance="a"}': '60x60',
        'pinrail_payouts_usdc{state="queued",instance="b"}': '60x60',
        'pinrail_payouts_usdc{state="authorized",instance="a"}': '41x60',
      },
    },
    PinrailFloatLow: {
      // No conversion takes of the reserve, so that an exhausted float is never below it.
      bad: {
        pinrail_float_usdc: '1001x60',
        pinrail_float_reserve_usdc: '1000x60',
        pinrail_conversions_waiting_usdc: '2x60',
      },
      fine: {
        pinrail_float_usdc: '1001x60',
        pinrail_float_reserve_usdc: '1000x60',
        pinrail_conversions_waiting_usdc: '1x60',
      },
    },
    PinrailRefillLate: {
      ...always('pinrail_refill_open_seconds{currency="EUR",partner="bridge"}', 432_001, 432_000),
      labels: { currency: 'EUR', partner: 'bridge' },
    },
    PinrailNodeDown: {
      ...always('pinrail_node{node="one",state="resting"}', 1, 0),
      labels: { node: 'one' },
    },
    PinrailNoQuorum: always('pinrail_nodes_spare', -1, 0),
    PinrailNodeWrong: {
      bad: { 'pinrail_node_wrong_total{node="one"}': '0+1x60' },
      fine: { 'pinrail_node_wrong_total{node="one"}': '5x60' },
      labels: { node: 'one' },
      from: 6,
    },
    PinrailHookFails: {
      ...always('pinrail_settlement_attention{kind="deposit_log"}', 1, 0),
      labels: { kind: 'deposit_log' },
    },
    PinrailReservesWait: {
      ...always('pinrail_settlement_attention{kind="release_voided"}', 1, 0),
      labels: { kind: 'release_voided' },
    },
    PinrailRateRefused: always('pinrail_settlement_attention{kind="rate_refused"}', 1, 0),
    PinrailSettlementAttention: {
      ...always('pinrail_settlement_attention{kind="unknown_transfer"}', 1, 0),
      labels: { kind: 'unknown_transfer' },
    },
    PinrailReceiptsOverdue: always('pinrail_settlement_attention{kind="receipt"}', 1, 0),
  }

  let promtool: string
  let folder: string
  beforeAll(async () => {
    promtool = await ensurePromtool(createProgress(process.stderr))
    folder = mkdtempSync(join(tmpdir(), 'pinrail-rules-'))
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('Prometheus accepts the rules', () => {
    const said = execFileSync(promtool, ['check', 'rules', RULES], { encoding: 'utf8' })
    expect(said).toContain(`${rules.length} rules found`)
    expect(Object.keys(RAISED).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s is raised at its limit, and not before',
    (name, rule) => {
      const { bad, fine, labels = {}, from = 0 } = RAISED[name]!
      const held = Number.parseInt(rule.for, 10)
      const summary = rule.annotations.summary.replaceAll(
        /\{\{ \$labels\.(\w+) \}\}/g,
        (_, label: string) => labels[label] ?? '',
      )
      const raised = [{ exp_labels: { ...rule.labels, ...labels }, exp_annotations: { summary } }]
      const at = (minutes: number, exp_alerts: object[]) => ({ eval_time: `${minutes}m`, alertname: name, exp_alerts })
      const input = (series: Series) => Object.entries(series).map(([key, values]) => ({ series: key, values }))
      const tests = [
        // A moment before, it is not known yet if it lasts.
        {
          interval: '1m',
          input_series: input(bad),
          alert_rule_test: [at(from + held - 1, []), at(from + held + 1, raised)],
        },
        { interval: '1m', input_series: input(fine), alert_rule_test: [at(from + held + 1, []), at(50, [])] },
      ]
      const file = join(folder, `${name}.json`)
      writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
      expect(execFileSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
    },
  )
})
