/**
 * Calls `read` for each entry. Throws one AggregateError with `faults` and every error that `read`
 * throws, not only the first.
 */
export function readAllOrThrow<Entry, Value>(
  entries: readonly Entry[],
  read: (entry: Entry, index: number) => Value,
  faults: readonly Error[] = [],
): readonly Value[] {
  const found: unknown[] = [...faults]
  const values = entries.flatMap((entry, index) => {
    try {
      return [read(entry, index)]
    } catch (thrown) {
      found.push(...listFaults(thrown))
      return []
    }
  })
  if (found.length > 0) throw new AggregateError(found)
  return values
}

/** Returns the errors of an AggregateError, or a list with only the thrown value. */
export function listFaults(thrown: unknown): readonly unknown[] {
  return thrown instanceof AggregateError ? thrown.errors : [thrown]
}
