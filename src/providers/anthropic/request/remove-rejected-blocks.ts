/**
 * Takes out what would be refused where it stands now that everything has its place: empty text,
 * thinking with nothing behind it, and a call of the provider's own tool that nobody answered. What was
 * the end of a request is settled as it was then.
 */
import type { NoteCollector } from '../encoding-notes.ts'
import {
  isBlankText,
  isServerToolCall,
  isThinking,
  type BlockEntry,
  type RequestEntries,
} from '../api-types.ts'

export function removeRejectedBlocks(
  stretches: readonly RequestEntries[],
  notebook: NoteCollector,
): readonly RequestEntries[] {
  const answered = new Set<unknown>()
  for (const entries of stretches) {
    for (const { block } of entries) answered.add(block['tool_use_id'])
  }
  const isAnswered = ({ block }: BlockEntry): boolean => answered.has(block['id'])
  return stretches.map((entries, at) => {
    return settleOne(entries, at === stretches.length - 1, isAnswered, notebook)
  })
}

function settleOne(
  entries: RequestEntries,
  isNewest: boolean,
  isAnswered: (call: BlockEntry) => boolean,
  notebook: NoteCollector,
): RequestEntries {
  const runs = groupByRole(entries)
  return runs.flatMap((run, index) => {
    const settled = withoutBlanks(run, notebook)
    if (run[0]?.role === 'user') return settled
    // The newest turn may be waiting for its answer, which is how a paused turn is resumed.
    const next = runs[index + 1]?.[0]
    const isWaiting = next === undefined ? isNewest : next.block['type'] === 'tool_result'
    const asked = isWaiting ? settled : withoutUnanswered(settled, isAnswered, notebook)
    return removeTrailingThinking(asked, notebook)
  })
}

/** Neighbours of one role. */
export function groupByRole(entries: readonly BlockEntry[]): readonly (readonly BlockEntry[])[] {
  const runs: BlockEntry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last?.[0]?.role === entry.role) last.push(entry)
    else runs.push([entry])
  }
  return runs
}

/** White space alone is refused as well, but only in a message without any other text. */
function withoutBlanks(run: readonly BlockEntry[], notebook: NoteCollector): readonly BlockEntry[] {
  const hasText = run.some(({ block }) => block['type'] === 'text' && !isBlankText(block))
  return run.filter(({ at, block }) => {
    if (!isBlankText(block) || (hasText && block['text'] !== '')) return true
    notebook.write('empty-text', { at })
    return false
  })
}

function withoutUnanswered(
  run: readonly BlockEntry[],
  isAnswered: (call: BlockEntry) => boolean,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  return run.filter((entry) => {
    if (!isServerToolCall(entry.block) || isAnswered(entry)) return true
    notebook.write('server-tool-without-result', { at: entry.at })
    return false
  })
}

export function removeTrailingThinking(
  run: readonly BlockEntry[],
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const end = run.findLastIndex(({ block }) => !isThinking(block)) + 1
  for (const { at } of run.slice(end)) notebook.write('reasoning-without-follower', { at })
  return end === run.length ? run : run.slice(0, end)
}
