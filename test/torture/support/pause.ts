/** Waiting in the torture suite. */
import { setTimeout as pause } from 'node:timers/promises'

export { pause }

/** Calls `work` for each value, at most `parallel` at a time. */
export async function forEachParallel<Value>(
  values: Iterable<Value>,
  parallel: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const rest = values[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
