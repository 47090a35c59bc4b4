/**
 * Takes out what would be refused where it stands now that everything has its place: empty text,
 * thinking with nothing behind it, and a call of the provider's own tool that nobody answered.
 */
import type { Notebook } from './notes.ts'
import { isBlankText, isServerCall, isThinking, type Entry } from './wire.ts'

export function settle(entries: readonly Entry[], notebook: Notebook): readonly Entry[] {
  const runs = runsOf(entries)
  const answered = new Set(entries.map(({ block }) => block['tool_use_id']))
  return runs.flatMap((run, index) => {
    const settled = withoutBlanks(run, notebook)
    if (run[0]?.role === 'user') return settled
    // The newest turn may be waiting for its answer, which is how a paused turn is resumed.
    const next = runs[index + 1]?.[0]
    const isWaiting = next === undefined || next.block['type'] === 'tool_result'
    const asked = isWaiting ? settled : withoutUnanswered(settled, answered, notebook)
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
  answered: ReadonlySet<unknown>,
  notebook: Notebook,
): readonly Entry[] {
  return run.filter(({ at, block }) => {
    if (!isServerCall(block) || answered.has(block['id'])) return true
    notebook.write('server-tool-without-result', { at })
    return false
  })
}

function withoutLooseThinking(run: readonly Entry[], notebook: Notebook): readonly Entry[] {
  const end = run.findLastIndex(({ block }) => !isThinking(block)) + 1
  for (const { at } of run.slice(end)) notebook.write('reasoning-without-follower', { at })
  return end === run.length ? run : run.slice(0, end)
}
