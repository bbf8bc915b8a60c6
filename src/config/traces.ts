import { z } from 'zod'
import { Secret } from './secret.ts'

/** Destination of traces: the standard variables of OpenTelemetry. */
export const tracesShape = {
  /** Base URL of a collector that takes OTLP over HTTP. Without it, nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url().optional(),
  /** `name=value`, comma separated: headers that the collector requires. The exporter reads this variable itself. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform((value) => new Secret(value))
    .optional(),
}
