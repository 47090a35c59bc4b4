/** How a slow database is waited for: for so long, and then no more. What it does is not given up. */
export async function inTime<Value>(
  work: Promise<Value>,
  patienceMs: number,
): Promise<Value | typeof LATE> {
  const patience = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => patience.resolve(LATE), patienceMs)
  try {
    return await Promise.race([work, patience.promise])
  } finally {
    clearTimeout(timer)
  }
}

export const LATE = Symbol('late')
