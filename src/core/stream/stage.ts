/** A synchronous step of a stream: takes one value and returns the values to pass on. */
export interface Stage<In, Out> {
  readonly push: (value: In) => readonly Out[]
  /** Called once, after the last value. */
  readonly end: () => readonly Out[]
}

/** One server-sent event. `event` is absent if the wire does not name events. */
export interface SseMessage {
  readonly event?: string | undefined
  readonly data: string
}

/** True for the `[DONE]` that ends a stream. */
export function isDoneMarker({ data }: SseMessage): boolean {
  return data.startsWith('[DONE]')
}

/**
 * Recognizes an event that only appends text, e.g. `{"type":"…delta","delta":"Hi"}`, by its data:
 * `before` matches up to the opening quote of the text, `after` from its closing quote on, and none of
 * `excludedPatterns` may match.
 */
export interface TextDeltaPattern {
  readonly before: RegExp
  readonly after: RegExp
  readonly excludedPatterns: readonly RegExp[]
}

export const NO_OUTPUT: readonly never[] = []

/** Pushes all values through a stage and returns its complete output. */
export function runStage<In, Out>(stage: Stage<In, Out>, values: Iterable<In>): Out[] {
  const out: Out[] = []
  for (const value of values) out.push(...stage.push(value))
  out.push(...stage.end())
  return out
}
