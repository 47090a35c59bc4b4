/**
 * The stop sequences that are sent upstream, and those at which the gateway ends the answer itself.
 * Both lists are in the order of the request, without duplicates and empty strings.
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
