/**
 * The stop sequences that are sent upstream, and those at which the gateway itself ends the answer.
 * Both lists are in the order of the request, without duplicates and empty strings.
 */
export interface SplitStopSequences {
  readonly sent: readonly string[]
  readonly unsent: readonly string[]
}

export function splitStopSequences(
  sequences: readonly string[],
  limit: number,
  isAccepted: (sequence: string) => boolean = () => true,
): SplitStopSequences {
  const sent: string[] = []
  const unsent: string[] = []
  for (const sequence of new Set(sequences)) {
    if (sequence === '') continue
    if (sent.length < limit && isAccepted(sequence)) sent.push(sequence)
    else unsent.push(sequence)
  }
  return { sent, unsent }
}
