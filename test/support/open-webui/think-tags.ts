/**
 * Open WebUI takes thinking that stands in the text out of it, wherever it finds one of these tags,
 * and makes a reasoning item of it. Around the cut the text loses its blanks.
 */
import type { StoredItem } from './stored-item.ts'

const TAGS: readonly (readonly [start: string, end: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reason>', '</reason>'],
  ['<reasoning>', '</reasoning>'],
  ['<thought>', '</thought>'],
  ['<Thought>', '</Thought>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'],
]

/** The last text, told apart into text and thinking as far as that has come. */
export function splitThinking(text: string): readonly StoredItem[] | null {
  const opened = TAGS.map((tag) => ({ tag, at: text.indexOf(tag[0]) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)[0]
  if (opened === undefined) return null
  const [start, end] = opened.tag
  const before = text.slice(0, opened.at).trim()
  const rest = text.slice(opened.at + start.length)
  const closedAt = rest.indexOf(end)
  if (closedAt < 0) return null
  const after = rest.slice(closedAt + end.length).trim()
  return [
    ...(before === '' ? [] : [message(before)]),
    { type: 'reasoning', text: rest.slice(0, closedAt).trim(), details: [] },
    ...(after === '' ? [] : (splitThinking(after) ?? [message(after)])),
  ]
}

/** What it sends of a text that is past. */
export function keptOf(text: string): string {
  const items = splitThinking(text) ?? [message(text)]
  return items.flatMap((item) => (item.type === 'message' ? item.text : [])).join('\n')
}

function message(text: string): StoredItem {
  return { type: 'message', text }
}
