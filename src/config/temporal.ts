import { readFileSync } from 'node:fs'
import { type ClientConnectConfig, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig'
import { z } from 'zod'
import { Secret } from './secret.ts'

const optional = z.string().optional()
const secret = z
  .string()
  .transform((value) => new Secret(value))
  .optional()

/**
 * How to reach Temporal: the variables of Temporal's tools and SDKs
 * (https://docs.temporal.io/develop/environment-configuration).
 */
export const temporalShape = {
  TEMPORAL_ADDRESS: optional,
  TEMPORAL_NAMESPACE: optional,
  /** A file in TOML with profiles. Without it, no file is read: a file in a home folder never decides which server a process uses. */
  TEMPORAL_CONFIG_FILE: optional,
  /** The profile in that file; `default` if absent. Environment variables override it. */
  TEMPORAL_PROFILE: optional,
  /** Turns TLS on. */
  TEMPORAL_API_KEY: secret,
  TEMPORAL_TLS: z.enum(['true', 'false', '1', '0']).optional(),
  TEMPORAL_TLS_SERVER_NAME: optional,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: optional,
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: optional,
  TEMPORAL_TLS_CLIENT_CERT_PATH: optional,
  TEMPORAL_TLS_CLIENT_CERT_DATA: optional,
  TEMPORAL_TLS_CLIENT_KEY_PATH: optional,
  TEMPORAL_TLS_CLIENT_KEY_DATA: secret,
} as const

/** How the worker polls, and the build of its workflows. */
export const temporalWorkerShape = {
  WORKER_MAX_CACHED_WORKFLOWS: z.coerce.number().int().min(0).default(1000),
  /** Milliseconds that running activities have to finish after SIGTERM; another worker retries the others. */
  WORKER_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(0).default(25_000),
  WORKER_STICKY_TIMEOUT_MS: z.coerce.number().int().min(100).default(5000),
  WORKER_BUILD_ID: z.string().optional(),
  WORKER_VERSIONING: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .default(false),
} as const

/** Prefix of the headers of every call, `TEMPORAL_GRPC_META_<NAME>`, with any name. */
const META = 'TEMPORAL_GRPC_META_'

const DEFAULT_ADDRESS = '127.0.0.1:7233'
const DEFAULT_NAMESPACE = 'default'

export type TemporalSettings = {
  readonly connection: Pick<ClientConnectConfig['connectionOptions'], 'apiKey' | 'tls' | 'metadata'> & {
    readonly address: string
  }
  readonly namespace: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns true if the variables name a server. Without one, `npm start` brings its own. */
export const namesTemporal = ({ TEMPORAL_ADDRESS: address, TEMPORAL_CONFIG_FILE: file }: Environment): boolean =>
  Boolean(address) || Boolean(file)

/** Returns true if the variable configures the connection to Temporal. */
export const isTemporalVariable = (name: string): boolean => Object.hasOwn(temporalShape, name) || name.startsWith(META)

/**
 * Reads the address of Temporal, and the identity there. Throws for a file, a profile or a certificate that does not
 * exist, for half a key pair, and for an API key without TLS.
 */
export function readTemporal(env: Environment): TemporalSettings {
  const known = Object.entries(env).filter(
    (entry): entry is [string, string] => isTemporalVariable(entry[0]) && entry[1] !== undefined && entry[1] !== '',
  )
  const variables = Object.fromEntries(known)
  const { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: profile } = variables
  if (file === undefined && profile !== undefined)
    throw new Error('TEMPORAL_PROFILE needs TEMPORAL_CONFIG_FILE, the file with the profiles')
  const profileRead = loadProfile(variables, file)
  const { apiKey, tls } = profileRead
  if ((tls?.clientCert === undefined) !== (tls?.clientKey === undefined))
    throw new Error('TEMPORAL_TLS_CLIENT_CERT_* and TEMPORAL_TLS_CLIENT_KEY_* must be set together')
  if (apiKey !== undefined && tls?.disabled === true)
    throw new Error('TEMPORAL_API_KEY needs TLS: without it anybody on the network path can read the key')
  const { connectionOptions, namespace } = toClientOptions(profileRead)
  return {
    connection: { ...connectionOptions, address: connectionOptions.address ?? DEFAULT_ADDRESS },
    namespace: namespace ?? DEFAULT_NAMESPACE,
  }
}

function loadProfile(variables: Record<string, string>, file: string | undefined) {
  // Read here, because the library treats a missing file as an empty one.
  const source =
    file === undefined ? { disableFile: true } : { configSource: { data: readFileSync(file) }, configFileStrict: true }
  try {
    return loadClientConfigProfile({ overrideEnvVars: variables, ...source })
  } catch (error) {
    // The next lines quote the wrong line of the file, which may be that of the API key.
    const [what = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new Error(what, { cause: null })
  }
}
