/**
 * The ends of a conversation. It starts with a user; and where the model cannot continue an assistant
 * message, it ends with one as well. What was an end once is told as it was then, because what came
 * behind it was made there. Thinking of a turn that is still running is left out while thinking is
 * off, because it is refused there.
 */
import { textOrEmpty } from '../../../core/json/json.ts'
import { createTextBlock } from './encode-parts.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { groupByRole, removeTrailingThinking } from './remove-rejected-blocks.ts'
import { lacksInitialThinking, findOpenToolLoop } from './plan-thinking.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isServerToolCall, isThinking, type BlockEntry, type RequestEntries } from '../api-types.ts'

export interface MessageEndOptions {
  readonly isThinkingOn: boolean
  /** A grammar for the answer does not go together with the start of one. */
  readonly hasFormat: boolean
  readonly traits: ModelTraits
}

export function fixFirstAndLastMessage(
  stretches: readonly RequestEntries[],
  ends: MessageEndOptions,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const entries = fixFormerLastMessages(stretches, ends, notebook)
  const allowed = ends.isThinkingOn ? entries : withoutOpenThinking(entries, ends.traits, notebook)
  return lawfulEnd(lawfulStart(allowed, notebook), ends, notebook)
}

/** All of it in one list, with each former end as it was when there was thinking, or none. */
export function fixFormerLastMessages(
  stretches: readonly RequestEntries[],
  ends: MessageEndOptions,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const newest = stretches.length - 1
  let running: readonly BlockEntry[] = []
  return stretches.flatMap((entries, at) => {
    if (at === newest) return entries
    const isThinkingOn =
      ends.isThinkingOn &&
      !lacksInitialThinking(findOpenToolLoop([...running, ...entries]), ends.traits)
    const ended = lawfulEnd(entries, { ...ends, isThinkingOn }, notebook)
    running = findOpenToolLoop([...running, ...ended])
    return ended
  })
}

/** Another service with this wire may want its thinking back at any time. */
function withoutOpenThinking(
  entries: readonly BlockEntry[],
  { thinking }: ModelTraits,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  if (thinking === 'none') return entries
  const open = new Set(findOpenToolLoop(entries).filter(({ block }) => isThinking(block)))
  for (const { at } of open) notebook.write('thinking-off', { at })
  return open.size === 0 ? entries : entries.filter((entry) => !open.has(entry))
}

function lawfulStart(
  entries: readonly BlockEntry[],
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const [first] = entries
  // A compaction stands for the user who began.
  if (first?.role === 'user' || first?.block['type'] === 'compaction') return entries
  notebook.write('first-user-line-added')
  return [added('Let us begin.'), ...entries]
}

function lawfulEnd(
  entries: readonly BlockEntry[],
  ends: MessageEndOptions,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const last = entries.at(-1)
  // A paused turn is not a prefill: it goes on where the provider's own tool left off.
  if (last?.role !== 'assistant' || isPaused(entries)) return entries
  if (
    !ends.traits.prefill ||
    ends.isThinkingOn ||
    ends.hasFormat ||
    last.block['type'] !== 'text'
  ) {
    notebook.write('prefill-as-instruction', { at: last.at })
    return [...entries, added('Continue exactly where your last message ends.')]
  }
  const text = textOrEmpty(last.block['text']).trimEnd()
  const before = entries.slice(0, -1)
  if (text === '') return lawfulEnd(removeTrailingThinking(before, notebook), ends, notebook)
  return [...before, { ...last, block: { ...last.block, text } }]
}

function isPaused(entries: readonly BlockEntry[]): boolean {
  const run = groupByRole(entries).at(-1) ?? []
  const answered = new Set(run.map(({ block }) => block['tool_use_id']))
  return run.some(({ block }) => isServerToolCall(block) && !answered.has(block['id']))
}

function added(text: string): BlockEntry {
  return { role: 'user', at: null, block: createTextBlock(text) }
}
