/** Places recorded tool outputs that a client omits among the outputs that it sends. */
import type { Item } from '../../core/item.ts'
import { readToolCallKey, type RecordedOutput } from '../find-recorded-tool-outputs.ts'

/**
 * Groups the outputs that the client omits by the index in its list at which they are inserted:
 * after the nearest output that was recorded before them and that the client has, else at `start`.
 */
export function groupByInsertIndex(
  missingOutputs: readonly RecordedOutput[],
  items: readonly Item[],
  start: number,
  end: number,
): readonly (readonly [number, readonly RecordedOutput[]])[] {
  const outputEnds = new Map<string, number>()
  for (const [offset, item] of items.slice(start, end).entries()) {
    const key = readToolCallKey(item, 'output')
    if (key !== null) outputEnds.set(key, start + offset + 1)
  }
  const sorted = missingOutputs.toSorted((a, b) => a.inputIndex - b.inputIndex)
  const neighborEnds = outputEnds.size === 0 ? null : findNeighborEnds(sorted, outputEnds)
  const outputsByIndex = Map.groupBy(sorted, (output) => neighborEnds?.get(output) ?? start)
  return [...outputsByIndex].toSorted(([a], [b]) => a - b)
}

/**
 * Finds where the outputs that the client omits (`sorted`) belong between those that it has: after
 * the nearest output that was recorded before the omitted one and that the client has. Returns the
 * index after that output in the client's list.
 */
function findNeighborEnds(
  sorted: readonly RecordedOutput[],
  outputEnds: ReadonlyMap<string, number>,
): ReadonlyMap<RecordedOutput, number> {
  const neighborEnds = new Map<RecordedOutput, number>()
  for (const [{ input }, turnOutputs] of Map.groupBy(sorted, ({ turn }) => turn)) {
    let index = 0
    let lastEnd: number | undefined
    for (const missingOutput of turnOutputs) {
      for (const item of input.slice(index, missingOutput.inputIndex))
        lastEnd = outputEnds.get(readToolCallKey(item, 'output') ?? '') ?? lastEnd
      index = missingOutput.inputIndex
      if (lastEnd !== undefined) neighborEnds.set(missingOutput, lastEnd)
    }
  }
  return neighborEnds
}
