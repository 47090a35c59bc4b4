/** A synchronous step of a stream: values in, values out. Tested with arrays, lifted elsewhere. */
export interface Stage<In, Out> {
  readonly push: (value: In) => readonly Out[]
  /** The input is over. Called once; nothing is pushed afterwards. */
  readonly end: () => readonly Out[]
}

/** One server-sent event. `event` is absent where the wire names none. */
export interface SseMessage {
  readonly event?: string | undefined
  readonly data: string
}

/** The mark behind the last event of a stream. */
export function isDoneMarker({ data }: SseMessage): boolean {
  return data.startsWith('[DONE]')
}

/**
 * Tells by the data of an event that it only says some words, however often it came: `before` fits up
 * to their quote, `after` from the quote behind them on, and none of `more` at all.
 */
export interface TextDeltaPattern {
  readonly before: RegExp
  readonly after: RegExp
  readonly unchangedFields: readonly RegExp[]
}

export const NO_OUTPUT: readonly never[] = []

/** Runs all of `values` through `stage`, its end included. */
export function runStage<In, Out>(stage: Stage<In, Out>, values: Iterable<In>): Out[] {
  const out: Out[] = []
  for (const value of values) out.push(...stage.push(value))
  out.push(...stage.end())
  return out
}
