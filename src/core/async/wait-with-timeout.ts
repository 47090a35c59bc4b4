/** Resolves like `work`, or to `TIMED_OUT` after `timeoutMs`. Does not cancel `work`. */
export function waitWithTimeout<Value>(
  work: Promise<Value>,
  timeoutMs: number,
): Promise<Value | typeof TIMED_OUT> {
  const { promise: timeout, resolve } = Promise.withResolvers<typeof TIMED_OUT>()
  const timer = setTimeout(() => resolve(TIMED_OUT), timeoutMs)
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}

export const TIMED_OUT = Symbol('timed out')
