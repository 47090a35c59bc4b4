/** How a slow database is waited for: for so long, and then no more. What it does is not given up. */
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
