import { z } from 'zod'
import { Secret } from './secret.ts'

/** Traces, and how metrics and traces name the process: the standard variables of OpenTelemetry. */
export const tracesShape = {
  /** Base URL of a collector that takes OTLP over HTTP. Without it, nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  /** `name=value`, comma separated: headers that the collector requires. The exporter reads this variable itself. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform((value) => new Secret(value))
    .optional(),
  /** The name of the process, `pinrail-api` or `pinrail-worker` without it. OpenTelemetry reads this variable itself. */
  OTEL_SERVICE_NAME: z.string().optional(),
  /** `name=value`, comma separated: more about the process. OpenTelemetry reads this variable itself. */
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
}
