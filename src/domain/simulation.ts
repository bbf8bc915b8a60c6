/** Actions of a simulated partner on an order, through its own controls and the API's test mode. */
export const SIMULATED_ACTIONS = [
  'pay',
  'decline',
  'cancel',
  'require_verification',
  'verify',
  'fail_verification',
  'hold',
  'release',
  'confirm',
  // With the new total: the buyer pays the rest, or more.
  'top_up',
  // All of it, or down to a new total.
  'reverse',
  'expire',
  // Half of the price, or half more than it.
  'under',
  'over',
  // Money for an order that is over.
  'late',
  // The partner answers the next five questions about the order with an error.
  'partner_down',
] as const

export type SimulatedAction = (typeof SIMULATED_ACTIONS)[number]
