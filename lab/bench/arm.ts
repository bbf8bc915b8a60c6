export type Arm = {
  readonly name: string
  /** The name of the comparison with it. The arm that is compared has none. */
  readonly ratio?: string
  /** Processes whose CPU time counts as its cost. The others simulate partners, merchants and the chain. */
  readonly ours: readonly string[]
  /** The process among these that runs its workflows or answers its requests. */
  readonly worker: string
  readonly pay: () => Promise<Paid>
}

/** One way through an arm, from its creation to its end. */
export type Paid = { readonly workflowId: string; readonly tookMs: number }
