/** Waits for so long, and then no more. What is waited for goes on. */
export function waitWithTimeout<Value>(
  work: Promise<Value>,
  patienceMs: number,
): Promise<Value | typeof TIMED_OUT> {
  const { promise, resolve, reject } = Promise.withResolvers<Value | typeof TIMED_OUT>()
  const timer = setTimeout(() => resolve(TIMED_OUT), patienceMs)
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
