/** For a test that is about one limit, or about none. */
export const NO_LIMITS = {
  requests: 1e6,
  windowSeconds: 1,
  refusalsPerMinute: 1e6,
  signInsPerHour: 1e6,
  formsPerHour: 1e6,
  sendsPerHour: 1e6,
  madePerHour: { file: 1e6, key: 1e6 },
  looksPerMinute: 1e6,
  actsPerMinute: 1e6,
  // Windows are those of the clock: no test is to cross the end of one.
  clock: () => 0,
}
