/** Waits for so long, and then no more. What is waited for goes on. */
export function inTime<Value>(
  work: Promise<Value>,
  patienceMs: number,
): Promise<Value | typeof LATE> {
  const { promise, resolve, reject } = Promise.withResolvers<Value | typeof LATE>()
  const timer = setTimeout(() => resolve(LATE), patienceMs)
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

export const LATE = Symbol('late')
