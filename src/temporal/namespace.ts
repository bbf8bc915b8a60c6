import type { Connection } from '@temporalio/client'

/** Search attributes by which operators find payments. docs/operations.md lists them with their types. */
export const SEARCH_ATTRIBUTES = {
  PaymentStatus: 'Keyword',
  MerchantId: 'Keyword',
  Provider: 'Keyword',
  Currency: 'Keyword',
  NeedsOperator: 'Bool',
  AmountMinor: 'Int',
  ExpiresAt: 'Datetime',
} as const

/** temporal.api.enums.v1.IndexedValueType */
const TYPES = { Keyword: 2, Int: 3, Bool: 5, Datetime: 6 }
/** gRPC's status ALREADY_EXISTS. */
const ALREADY_EXISTS = 6

type Services = Pick<Connection, 'workflowService' | 'operatorService'>

/** Existing ones stay as they are. */
export async function registerSearchAttributes(
  { operatorService }: Pick<Services, 'operatorService'>,
  namespace: string,
): Promise<void> {
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES))
    await operatorService
      .addSearchAttributes({ namespace, searchAttributes: { [name]: TYPES[type] } })
      .catch((error: { code?: number }) => {
        if (error.code !== ALREADY_EXISTS) throw error
      })
}

export async function missingSearchAttributes(
  { operatorService }: Pick<Services, 'operatorService'>,
  namespace: string,
): Promise<string[]> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
  return Object.keys(SEARCH_ATTRIBUTES).filter((name) => !Object.hasOwn(customAttributes ?? {}, name))
}

/** temporal.api.enums.v1.TaskQueueType */
const WORKFLOW_TASKS = 1

/** Each identity has its build, if it has one. */
export async function listPollers(
  { workflowService }: Pick<Services, 'workflowService'>,
  { namespace, queue }: { namespace: string; queue: string },
): Promise<string[]> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: queue },
    taskQueueType: WORKFLOW_TASKS,
  })
  return (pollers ?? []).map(({ identity, deploymentOptions }) => {
    const build = deploymentOptions?.buildId
    return `${identity ?? 'unknown'}${build ? ` (${build})` : ''}`
  })
}
