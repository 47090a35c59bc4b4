/**
 * Takes out what would be refused where it stands now that everything has its place: empty text,
 * thinking with nothing behind it, and a call of the provider's own tool that nobody answered. What was
 * the end of a request is settled as it was then.
 */
import type { Notebook } from '../encoding-notes.ts'
import { isBlankText, isServerCall, isThinking, type Entry, type Stretch } from '../api-types.ts'

export function settle(stretches: readonly Stretch[], notebook: Notebook): readonly Stretch[] {
  const answered = new Set<unknown>()
  for (const entries of stretches) {
    for (const { block } of entries) answered.add(block['tool_use_id'])
  }
  const isAnswered = ({ block }: Entry): boolean => answered.has(block['id'])
  return stretches.map((entries, at) => {
    return settleOne(entries, at === stretches.length - 1, isAnswered, notebook)
  })
}

function settleOne(
  entries: Stretch,
  isNewest: boolean,
  isAnswered: (call: Entry) => boolean,
  notebook: Notebook,
): Stretch {
  const runs = runsOf(entries)
  return runs.flatMap((run, index) => {
    const settled = withoutBlanks(run, notebook)
    if (run[0]?.role === 'user') return settled
    // The newest turn may be waiting for its answer, which is how a paused turn is resumed.
    const next = runs[index + 1]?.[0]
    const isWaiting = next === undefined ? isNewest : next.block['type'] === 'tool_result'
    const asked = isWaiting ? settled : withoutUnanswered(settled, isAnswered, notebook)
    return withoutLooseThinking(asked, notebook)
  })
}

/** Neighbours of one role. */
export function runsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const runs: Entry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last?.[0]?.role === entry.role) last.push(entry)
    else runs.push([entry])
  }
  return runs
}

/** White space alone is refused as well, but only in a message without any other text. */
function withoutBlanks(run: readonly Entry[], notebook: Notebook): readonly Entry[] {
  const hasText = run.some(({ block }) => block['type'] === 'text' && !isBlankText(block))
  return run.filter(({ at, block }) => {
    if (!isBlankText(block) || (hasText && block['text'] !== '')) return true
    notebook.write('empty-text', { at })
    return false
  })
}

function withoutUnanswered(
  run: readonly Entry[],
  isAnswered: (call: Entry) => boolean,
  notebook: Notebook,
): readonly Entry[] {
  return run.filter((entry) => {
    if (!isServerCall(entry.block) || isAnswered(entry)) return true
    notebook.write('server-tool-without-result', { at: entry.at })
    return false
  })
}

export function withoutLooseThinking(run: readonly Entry[], notebook: Notebook): readonly Entry[] {
  const end = run.findLastIndex(({ block }) => !isThinking(block)) + 1
  for (const { at } of run.slice(end)) notebook.write('reasoning-without-follower', { at })
  return end === run.length ? run : run.slice(0, end)
}
