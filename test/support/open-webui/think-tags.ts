/** Splits reasoning in think tags off a text, as Open WebUI does, and trims the text around them. */
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

/** Returns the text and reasoning of the last text so far; null without an opening tag. */
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

/** Returns the text that Open WebUI sends back for a text with tags. */
export function textSentBack(text: string): string {
  const items = splitThinking(text) ?? [message(text)]
  return items.flatMap((item) => (item.type === 'message' ? item.text : [])).join('\n')
}

function message(text: string): StoredItem {
  return { type: 'message', text }
}
