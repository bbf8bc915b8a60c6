import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { ensureHelm } from '../../scripts/setup/programs/helm.ts'
import { createProgress } from '../../scripts/setup/progress.mjs'
import { run } from '../../scripts/setup/run.ts'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { KNOWN_VARIABLES, readApiConfig, readSandboxConfig, readWorkerConfig } from '../../src/config/config.ts'

/** The chart of ops/helm, linted and rendered by helm. */

const CHART = fileURLToPath(new URL('../../ops/helm/pinrail', import.meta.url))
const EVERYTHING = [
  'codec.enabled=true',
  'serviceMonitor.enabled=true',
  'api.ingress.enabled=true',
  'api.httpRoute.enabled=true',
]

const container = z.looseObject({
  name: z.string(),
  command: z.array(z.string()),
  image: z.string(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }) })),
  securityContext: z.object({ allowPrivilegeEscalation: z.boolean(), readOnlyRootFilesystem: z.boolean() }),
  resources: z.object({ limits: z.object({ memory: z.string() }) }),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  ports: z.array(z.object({ name: z.string() })).default([]),
  readinessProbe: z.looseObject({}).optional(),
  livenessProbe: z.looseObject({}).optional(),
})
const pod = z.looseObject({
  securityContext: z.object({ runAsNonRoot: z.boolean(), runAsUser: z.number() }),
  automountServiceAccountToken: z.boolean(),
  terminationGracePeriodSeconds: z.number().optional(),
  containers: z.array(container).length(1),
})
const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ template: z.looseObject({ spec: pod }).optional() }).optional(),
})
type Manifest = z.infer<typeof manifest>

let helm = ''
let all: Manifest[]
beforeAll(async () => {
  helm = await ensureHelm(createProgress(process.stderr))
  all = await render(...EVERYTHING)
  // A build of helm on two busy cores.
}, 900_000)

async function render(...settings: string[]): Promise<Manifest[]> {
  const text = await run(helm, ['template', 'shop', CHART, ...settings.flatMap((setting) => ['--set', setting])])
  return parseAllDocuments(text).map((document) => manifest.parse(document.toJS()))
}

const find = (kind: string, name: string): Manifest | undefined =>
  all.find((one) => one.kind === kind && one.metadata.name === name)
const findPod = (kind: string, name: string) => {
  const spec = find(kind, name)?.spec?.template?.spec
  if (spec === undefined) throw new Error(`there is no ${kind} ${name}`)
  return { ...spec, container: spec.containers[0]! }
}
const PODS = [
  ['Deployment', 'shop-api'],
  ['Deployment', 'shop-worker'],
  ['Deployment', 'shop-codec'],
  ['Job', 'shop-migrate'],
] as const

test('helm accepts the chart without complaints', async () => {
  expect(await run(helm, ['lint', '--strict', CHART])).toContain('0 chart(s) failed')
})

test('the chart renders every part, and with the default values only parts that a plain cluster supports', async () => {
  const kinds = (manifests: Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
  expect(kinds(all)).toEqual([
    'Deployment shop-api',
    'Deployment shop-codec',
    'Deployment shop-worker',
    'HTTPRoute shop-api',
    'HorizontalPodAutoscaler shop-api',
    'Ingress shop-api',
    'Job shop-migrate',
    'NetworkPolicy shop',
    'NetworkPolicy shop-api',
    'NetworkPolicy shop-codec',
    'NetworkPolicy shop-internal',
    'PodDisruptionBudget shop-api',
    'PodDisruptionBudget shop-worker',
    'Service shop-api',
    'Service shop-codec',
    'Service shop-internal',
    'ServiceAccount shop-api',
    'ServiceAccount shop-codec',
    'ServiceAccount shop-worker',
    'ServiceMonitor shop',
  ])
  const usual = kinds(await render())
  for (const special of ['ServiceMonitor shop', 'HTTPRoute shop-api', 'Ingress shop-api'])
    expect(usual).not.toContain(special)
  expect(usual).toContain('NetworkPolicy shop')
})

describe.each(PODS)('%s %s', (kind, name) => {
  test('a pod runs unprivileged on a read-only tree, within its memory, without a token of the cluster', () => {
    const { securityContext, automountServiceAccountToken, container: one } = findPod(kind, name)
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(one.securityContext).toEqual(expect.objectContaining({ readOnlyRootFilesystem: true }))
    expect([automountServiceAccountToken, one.securityContext.allowPrivilegeEscalation]).toEqual([false, false])
    expect(one.resources.limits.memory).toMatch(/Mi$|Gi$/)
  })

  test('a pod receives only variables that the system knows, and each once', () => {
    const names = findPod(kind, name).container.env.map((variable) => variable.name)
    expect(names.filter((variable) => !KNOWN_VARIABLES.has(variable))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})

test.each(['api', 'worker'])('a file that a variable of the %s names can be mounted into it', async (name) => {
  const manifests = await render(
    `${name}.extraVolumes[0].name=files`,
    `${name}.extraVolumes[0].secret.secretName=countries`,
    `${name}.extraVolumeMounts[0].name=files`,
    `${name}.extraVolumeMounts[0].mountPath=/files`,
  )
  const of = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === `Deployment shop-${name}`)
  const spec = of?.spec?.template?.spec
  const [volumes, mounts] = [spec?.['volumes'], spec?.containers[0]?.['volumeMounts']]
  expect(volumes).toContainEqual({ name: 'files', secret: { secretName: 'countries' } })
  expect(volumes).toContainEqual(expect.objectContaining({ name: 'tmp' }))
  expect(mounts).toEqual([
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'files', mountPath: '/files' },
  ])
})

test('each pod can end before it is killed', () => {
  const api = readApiConfig({ ...TEST_ENVIRONMENT, DATABASE_URL: 'postgres://a@b/c' })
  const key = { TREASURY_KEY: LIVE_ENVIRONMENT.TREASURY_KEY, RELAYER_KEYS: LIVE_ENVIRONMENT.RELAYER_KEYS }
  const worker = readWorkerConfig({ ...TEST_ENVIRONMENT, ...key, DATABASE_URL: 'postgres://a@b/c' })
  const { terminationGracePeriodSeconds, container: one } = findPod('Deployment', 'shop-api')
  const [program, seconds] = one.lifecycle?.preStop.exec.command ?? []
  // Until it receives no more requests.
  expect([program, Number(seconds)]).toEqual(['sleep', 5])
  expect(terminationGracePeriodSeconds).toBeGreaterThan(api.API_DRAIN_MS / 1000 + Number(seconds))
  const graceSeconds = worker.WORKER_SHUTDOWN_GRACE_MS / 1000 + 15
  expect(findPod('Deployment', 'shop-worker').terminationGracePeriodSeconds).toBeGreaterThan(graceSeconds)
})

test.each([
  ['shop-api', 'http'],
  ['shop-worker', 'internal'],
])('%s has probes for its life and its readiness, and serves its metrics inside the cluster', (name, port) => {
  const { livenessProbe, readinessProbe, env } = findPod('Deployment', name).container
  expect([livenessProbe, readinessProbe]).toEqual([
    expect.objectContaining({ httpGet: { path: '/healthz', port } }),
    expect.objectContaining({ httpGet: { path: '/readyz', port } }),
  ])
  expect(env).toEqual(
    expect.arrayContaining([
      { name: 'INTERNAL_HOST', value: '0.0.0.0' },
      { name: 'INTERNAL_PORT', value: '9464' },
    ]),
  )
})

test('only the worker serves the metrics of Temporal’s SDK, inside the cluster', () => {
  const { env, ports } = findPod('Deployment', 'shop-worker').container
  expect(env).toContainEqual({ name: 'WORKER_SDK_METRICS', value: '0.0.0.0:9465' })
  expect(ports.map(({ name }) => name)).toEqual(['internal', 'sdk-metrics'])
  expect(findPod('Deployment', 'shop-api').container.ports.map(({ name }) => name)).toEqual(['http', 'internal'])
  expect(find('ServiceMonitor', 'shop')?.spec).toMatchObject({
    endpoints: [{ port: 'internal' }, { port: 'sdk-metrics' }],
  })
})

describe.each(['api', 'worker', 'codec', 'migration'])('the pods of %s', (name) => {
  const kind = name === 'migration' ? 'Job' : 'Deployment'
  const renderPod = async (...settings: string[]) => {
    const manifests = await render('codec.enabled=true', ...settings.map((setting) => `${name}.${setting}`))
    const pods = manifests.filter((one) => one.kind === kind && one.spec?.template !== undefined)
    const found = pods.find(
      ({ metadata }) => metadata.name === (name === 'migration' ? 'shop-migrate' : `shop-${name}`),
    )
    return { manifests, template: found?.spec?.template }
  }

  test('run where and as whom the values say', async () => {
    const { template } = await renderPod(
      'podLabels.team=payments',
      'podAnnotations.note=kept',
      'nodeSelector.disk=fast',
      'tolerations[0].key=payments',
      'tolerations[0].operator=Exists',
      'affinity.podAntiAffinity.x=y',
      'priorityClassName=high',
      'serviceAccount.create=false',
      'serviceAccount.name=payments-identity',
    )
    expect(template?.metadata).toMatchObject({
      labels: { team: 'payments', 'app.kubernetes.io/instance': 'shop' },
      annotations: { note: 'kept' },
    })
    expect(template?.spec).toMatchObject({
      serviceAccountName: 'payments-identity',
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'payments', operator: 'Exists' }],
      affinity: { podAntiAffinity: { x: 'y' } },
      priorityClassName: 'high',
    })
  })

  test('receive a variable from any Secret', async () => {
    const { template } = await renderPod(
      'extraEnv[0].name=LOG_LEVEL',
      'extraEnv[0].valueFrom.secretKeyRef.name=mine',
      'extraEnv[0].valueFrom.secretKeyRef.key=level',
    )
    const variable = { name: 'LOG_LEVEL', valueFrom: { secretKeyRef: { name: 'mine', key: 'level' } } }
    expect(template?.spec.containers[0]?.env).toContainEqual(variable)
  })
})

test.each(['api', 'worker', 'codec'])(
  '%s has a service account that a cloud can know by its annotation',
  async (name) => {
    const manifests = await render(
      'codec.enabled=true',
      `${name}.serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::1:role/pay`,
    )
    const account = manifests.find((one) => one.kind === 'ServiceAccount' && one.metadata.name === `shop-${name}`)
    expect(account).toMatchObject({
      metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/pay' } },
      automountServiceAccountToken: false,
    })
  },
)

test('the gateway’s route leads to the api', () => {
  expect(find('HTTPRoute', 'shop-api')?.spec).toEqual({
    parentRefs: [{ name: 'gateway', namespace: 'gateway', sectionName: 'https' }],
    hostnames: ['pay.example.com'],
    rules: [{ backendRefs: [{ name: 'shop-api', port: 80 }] }],
  })
})

describe('The sandbox', () => {
  const SETTINGS = [
    'sandbox.enabled=true',
    'config.PINRAIL_MODE=test',
    'config.LOCAL_PARTNER_ACCOUNT=rzp_test_1Pinrail',
    `sandbox.treasury=0x${'a1'.repeat(20)}`,
    'config.CHAIN_ID=80002',
    'api.ingress.enabled=true',
    'api.httpRoute.enabled=true',
  ]
  const renderSandbox = async () => {
    // Numbers of `--set` would not be texts.
    const asTexts = SETTINGS.filter((setting) => setting.startsWith('config.'))
    const others = SETTINGS.filter((setting) => !setting.startsWith('config.'))
    const args = [...others.flatMap((one) => ['--set', one]), ...asTexts.flatMap((one) => ['--set-string', one])]
    const text = await run(helm, ['template', 'shop', CHART, ...args])
    return parseAllDocuments(text).map((document) => manifest.parse(document.toJS()))
  }
  const readEnv = (manifests: Manifest[], name: string) => {
    const found = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
    return Object.fromEntries(
      (found?.spec?.template?.spec.containers[0]?.env ?? []).map((variable) => [variable.name, variable.value]),
    )
  }

  test('the sandbox, the api and the workers of a hosted test deployment find each other', async () => {
    const manifests = await renderSandbox()
    const secrets = Object.fromEntries(Object.entries(LIVE_ENVIRONMENT).filter(([name]) => /_SECRETS?$/.test(name)))
    const sandbox = readSandboxConfig({
      ...secrets,
      CARD_PARTNER_SECRET: 'sk_test_1Pinrail',
      ...readEnv(manifests, 'shop-sandbox'),
      SANDBOX_RPC_URL: 'https://amoy.example.com',
      SANDBOX_FAUCET_KEY: `0x${'5c'.repeat(32)}`,
    })
    expect(sandbox).toMatchObject({
      SANDBOX_PUBLIC_URL: 'https://partners.example.com',
      SANDBOX_CALLBACK_URL: 'http://shop-api',
      SANDBOX_DATA: '/data',
      SANDBOX_TREASURY: `0x${'a1'.repeat(20)}`,
    })
    for (const name of ['shop-api', 'shop-worker'])
      expect(readEnv(manifests, name)).toMatchObject({
        CARD_PARTNER_URL: 'http://shop-sandbox/card-partner',
        CONVERTER_URL: 'http://shop-sandbox/converter',
      })
  })

  test('only the pages of buyers are reached from outside of the cluster', async () => {
    const manifests = await renderSandbox()
    const paths = ['/wallet-app/pay', '/card-partner/pay', '/local-partner/pay', '/local-partner/upi', '/sandbox.css']
    const own = (kind: string) =>
      JSON.stringify(manifests.find((one) => one.kind === kind && one.metadata.name === 'shop-sandbox')?.spec)
    for (const kind of ['Ingress', 'HTTPRoute']) {
      const found = [...own(kind).matchAll(/"(?:path|value)":"([^"]+)"/g)].map(([, path]) => path)
      expect(found).toEqual(paths)
    }
  })

  test('the sandbox is refused in live mode, and without the treasury’s address', async () => {
    await expect(render('sandbox.enabled=true')).rejects.toThrow('A live system has no simulators')
    await expect(render('sandbox.enabled=true', 'config.PINRAIL_MODE=test')).rejects.toThrow(
      'sandbox.treasury must be the address of TREASURY_KEY',
    )
  })
})

test('an older build keeps its workers, which take only its payments', async () => {
  const manifests = await render(
    'worker.buildId=1-1-0',
    'image.tag=1.1.0',
    'worker.olderBuilds[0].buildId=1-0-0',
    'worker.olderBuilds[0].replicas=1',
    'worker.olderBuilds[0].image.tag=1.0.0',
  )
  const workers = manifests.filter(({ metadata }) => metadata.name.startsWith('shop-worker-'))
  const builds = workers.map(({ metadata, spec }) => {
    const { image, env } = spec!.template!.spec.containers[0]!
    const version = env.filter((variable) => /^WORKER_(VERSIONING|BUILD_ID)$/.test(variable.name))
    const values = new Set(version.map(({ value }) => value))
    const selector = spec!['selector'] as { matchLabels: object }
    return [metadata.name, spec!['replicas'], image, values, selector.matchLabels]
  })
  const labels = { 'app.kubernetes.io/instance': 'shop', 'app.kubernetes.io/component': 'worker' }
  expect(builds).toEqual([
    [
      'shop-worker-1-1-0',
      2,
      'pinrail-app:1.1.0',
      new Set(['true', '1-1-0']),
      { ...labels, 'pinrail.io/build': '1-1-0' },
    ],
    [
      'shop-worker-1-0-0',
      1,
      'pinrail-app:1.0.0',
      new Set(['true', '1-0-0']),
      { ...labels, 'pinrail.io/build': '1-0-0' },
    ],
  ])
})

test.each([
  ['worker.replica=3', 'replica'],
  ['config.PINRAIL_MODE=production', 'PINRAIL_MODE'],
  ['worker.buildId=Build_1', 'buildId'],
  ['image.digest=1.0.0', 'digest'],
  ['migration.serviceAccount.create=true', 'serviceAccount'],
])('helm refuses the value %s and names it', async (setting, name) => {
  await expect(render(setting)).rejects.toThrow(name)
})

test('the migration is the command of the image', () => {
  expect(findPod('Job', 'shop-migrate').container.command).toEqual(['pinrail', 'migrate'])
})

test('the worker has keys that the api does not have, and the api secrets that verify callbacks', () => {
  const listSecrets = (kind: string, name: string) =>
    findPod(kind, name).container.envFrom.map(({ secretRef }) => secretRef.name)
  expect(listSecrets('Deployment', 'shop-api')).toEqual(['pinrail-common', 'pinrail-api'])
  expect(listSecrets('Deployment', 'shop-worker')).toEqual(['pinrail-common', 'pinrail-worker'])
  expect(listSecrets('Job', 'shop-migrate')).toEqual(['pinrail-migration'])
})

test('live mode accepts the variables that the chart and its secrets set', async () => {
  const env = Object.fromEntries(
    findPod('Deployment', 'shop-worker').container.env.map(({ name, value }) => [name, value]),
  )
  const secrets = Object.entries(LIVE_ENVIRONMENT).filter(([name]) =>
    /_SECRETS?$|_KEY|_KEYS$|PEPPER|DATABASE|RPC|SMTP/.test(name),
  )
  expect(readWorkerConfig({ ...Object.fromEntries(secrets), ...env }).PINRAIL_MODE).toBe('live')
  // A secret that is left out is named.
  const without = secrets.filter(([name]) => name !== 'TREASURY_KEY')
  expect(() => readWorkerConfig({ ...Object.fromEntries(without), ...env })).toThrow('TREASURY_KEY: must be set')
})
