import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, InstrumentType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'

export type Registry = {
  readonly labels: ReadonlyMap<string, readonly string[]>
  /** Measures durations in seconds. */
  timer<Label extends string>(metric: Metric<Label>, buckets: readonly number[]): Timer<Label>
  /** Reads the values for each page. If `read` throws, the metric has no series on that page. */
  watch<Label extends string>(metric: Metric<Label>, kind: 'gauge' | 'counter', read: Read<Label>): void
  /** Returns all metrics in the text format of Prometheus, version 0.0.4. */
  page(): Promise<string>
}

type Metric<Label extends string> = { readonly name: string; readonly help: string; readonly labels: readonly Label[] }
type Labels<Label extends string> = Readonly<Record<Label, string>>
type Read<Label extends string> = () => Readings<Label> | Promise<Readings<Label>>
type Readings<Label extends string> = readonly { readonly value: number; readonly labels: Labels<Label> }[]

/** Starts a measurement. Its result ends it, with all labels, and returns the seconds. */
export type Timer<Label extends string> = () => (labels: Labels<Label>) => number

export const PAGE_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Describes the process to collectors. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` add to it, or replace its name. */
export function describeProcess(service: string): Resource {
  return resourceFromAttributes({ 'service.name': service }).merge(detectResources({ detectors: [envDetector] }))
}

export function openRegistry(service: string): Registry {
  const reader = new PageReader()
  const meter = new MeterProvider({ resource: describeProcess(service), readers: [reader] }).getMeter('pinrail')
  // Labels are those of the alerts alone: without the name of the meter.
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true)
  const known = new Map<string, readonly string[]>()
  return {
    labels: known,
    timer({ name, help, labels }, buckets) {
      known.set(name, labels)
      const histogram = meter.createHistogram(name, {
        description: help,
        advice: { explicitBucketBoundaries: [...buckets] },
      })
      return () => {
        const begun = performance.now()
        return (values) => {
          const seconds = (performance.now() - begun) / 1000
          histogram.record(seconds, values)
          return seconds
        }
      }
    },
    watch({ name, help, labels }, kind, read) {
      known.set(name, labels)
      const options = { description: help }
      const observable =
        kind === 'gauge' ? meter.createObservableGauge(name, options) : meter.createObservableCounter(name, options)
      observable.addCallback(async (result) => {
        for (const reading of await read()) result.observe(reading.value, reading.labels)
      })
    },
    async page() {
      const { resourceMetrics } = await reader.collect()
      return serializer.serialize(resourceMetrics)
    },
  }
}

/** A gauge without an answer has no series, because an old number would hide money. With other readers it would stay. */
class PageReader extends MetricReader {
  constructor() {
    super({
      aggregationTemporalitySelector: (instrument) =>
        instrument === InstrumentType.OBSERVABLE_GAUGE
          ? AggregationTemporality.DELTA
          : AggregationTemporality.CUMULATIVE,
    })
  }

  protected async onForceFlush(): Promise<void> {}

  protected async onShutdown(): Promise<void> {}
}
