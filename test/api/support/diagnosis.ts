import type { ApiDeps } from '../../../src/api/app.ts'
import type { DeliveryWorkflows } from '../../../src/temporal/deliveries.ts'

/** As if a worker asked the endpoint. */
export const withDiagnosis = ({ deliveries }: Pick<ApiDeps, 'deliveries'>): DeliveryWorkflows => ({
  ...deliveries,
  diagnose: async () => ({ cause: 'none', requests: 1 }),
})
