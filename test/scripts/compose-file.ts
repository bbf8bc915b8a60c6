import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export type Service = {
  image: string
  build?: { target: string }
  command?: string[]
  container_name?: string
  environment?: Record<string, string>
  ports?: string[]
  healthcheck?: { test: string[] }
  restart?: string
  volumes?: string[]
  user?: string
  read_only?: boolean
  mem_limit?: string
  stop_grace_period?: string
}

type Compose = {
  services: Record<string, Service>
  volumes: Record<string, null>
  configs: { databases: { content: string } }
}

/** docker-compose.yml, with its references resolved as compose does. */
export const compose = parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'), {
  merge: true,
}) as Compose

export function getService(name: string): Service {
  const service = compose.services[name]
  if (service === undefined) throw new Error(`docker-compose.yml must have the service ${name}`)
  return service
}

/** The variables of a service if the caller sets none: `${NAME:-default}` is its default. */
export function getEnvironment(name: string): Record<string, string> {
  const environment = getService(name).environment ?? {}
  return Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [key, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
  )
}
