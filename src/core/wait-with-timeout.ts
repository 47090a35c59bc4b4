/** Waits for `work`, but at most `timeoutMs`, and then returns `TIMED_OUT`. Does not cancel `work`. */
export function waitWithTimeout<Value>(
  work: Promise<Value>,
  timeoutMs: number,
): Promise<Value | typeof TIMED_OUT> {
  const { promise, resolve, reject } = Promise.withResolvers<Value | typeof TIMED_OUT>()
  const timer = setTimeout(() => resolve(TIMED_OUT), timeoutMs)
  work.then(
    (value) => {
      clearTimeout(timer)
      resolve(value)
    },
    (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    },
  )
  return promise
}

export const TIMED_OUT = Symbol('late')
