/** A synchronous step of a stream: takes one value and returns the values for the next step. */
export interface Stage<In, Out> {
  readonly push: (value: In) => readonly Out[]
  /** Returns the last output. Called once, after the last value. */
  readonly end: () => readonly Out[]
}

/** One server-sent event. `event` is missing in an API that does not name its events. */
export interface SseMessage {
  readonly event?: string | undefined
  readonly data: string
}

/** True for the message `[DONE]`, with which OpenAI's streams end. */
export function isDoneMarker({ data }: SseMessage): boolean {
  return data.startsWith('[DONE]')
}

/**
 * Recognizes a message that only appends text, e.g. `{"type":"…delta","delta":"Hi"}`, without parsing it.
 * `before` matches the data up to the opening quote of the text, `after` from the closing quote on, and
 * none of `excludedPatterns` may match.
 */
export interface TextDeltaPattern {
  readonly before: RegExp
  readonly after: RegExp
  readonly excludedPatterns: readonly RegExp[]
}

export const NO_OUTPUT: readonly never[] = []

/** Pushes all values through a stage, ends it, and returns its complete output. */
export function runStage<In, Out>(stage: Stage<In, Out>, values: Iterable<In>): Out[] {
  const out: Out[] = []
  for (const value of values) out.push(...stage.push(value))
  out.push(...stage.end())
  return out
}
