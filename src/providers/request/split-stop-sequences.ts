/**
 * The stop strings that an upstream can be told, and the rest, at which the gateway ends the answer
 * itself. In order, each once; an empty one says nothing.
 */
export interface SplitStopSequences {
  readonly sent: readonly string[]
  readonly unsent: readonly string[]
}

export function splitStopSequences(
  stop: readonly string[],
  limit: number,
  takes: (stop: string) => boolean = () => true,
): SplitStopSequences {
  const sent: string[] = []
  const unsent: string[] = []
  for (const each of new Set(stop)) {
    if (each === '') continue
    if (sent.length < limit && takes(each)) sent.push(each)
    else unsent.push(each)
  }
  return { sent, unsent }
}
