/** A synchronous step of a stream: takes one value and returns the values for the next step. */
export interface StreamStage<In, Out> {
  readonly push: (value: In) => readonly Out[]
  /** Returns the last output. Called once, after the last value. */
  readonly end: () => readonly Out[]
}

export const NO_OUTPUT: readonly never[] = []

/** Pushes all values through a stage, ends it, and returns its complete output. */
export function runStage<In, Out>(stage: StreamStage<In, Out>, values: Iterable<In>): Out[] {
  const out: Out[] = []
  for (const value of values) out.push(...stage.push(value))
  out.push(...stage.end())
  return out
}
