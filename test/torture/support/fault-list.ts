/** Counts what went wrong, by kind, and collects the first examples. */

export interface Faults {
  /** Adds a fault. Its example is a sentence that names the request; only the first of a group is listed. */
  readonly add: (kind: string, example: string, group?: string) => void
  /** The number of faults of each kind, e.g. `{ lost: 0, duplicated: 0 }`. */
  readonly counts: () => Readonly<Record<string, number>>
  readonly examples: () => readonly string[]
  readonly total: () => number
}

/** `kinds` are listed even if there are no faults. */
export function createFaultList(...kinds: readonly string[]): Faults {
  const counts = new Map(kinds.map((kind) => [kind, 0]))
  const examples: string[] = []
  const groups = new Map<string, Set<string>>()
  return {
    add(kind, example, group = example) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const listed = groups.get(kind) ?? new Set<string>()
      groups.set(kind, listed)
      if (listed.has(group) || listed.size === MAX_EXAMPLES) return
      listed.add(group)
      examples.push(`${kind}: ${example}`)
    },
    counts: () => Object.fromEntries(counts),
    examples: () => examples,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
  }
}

/** Maximum number of examples of each kind. */
const MAX_EXAMPLES = 10
