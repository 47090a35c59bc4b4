/**
 * Derives a template from the event of a text delta. Its holes are the parts that may differ in a matching
 * event: the model's text, and fields with another value in every event, e.g. `"sequence_number":7`.
 */
import { formatSseMessage, type SseMessage } from '../../../core/stream/sse.ts'
import type { TextDeltaMessagePattern } from '../../../core/stream/text-delta-message-pattern.ts'

/** Fixed pieces of text with holes between them. A hole is a pattern that matches its possible values. */
interface TextTemplate {
  readonly fixed: readonly string[]
  readonly holes: readonly RegExp[]
}

export interface DeltaTemplate {
  readonly eventName: string | undefined
  /** Template of the upstream's complete event, with SSE field names and line ends. */
  readonly rawEvent: TextTemplate
  /** Template of only the data of the event. */
  readonly data: TextTemplate
  /** Template of the complete event for the client; null if the event is sent unchanged. */
  readonly patchedEvent: TextTemplate | null
  /** Index of the hole that contains the model's text. */
  readonly textHoleIndex: number
}

/**
 * Derives the template from the upstream's event `message` and `patched`, the same event as the client is
 * sent it. Null if the event is no plain text delta, or if `patched` has other text or other changing
 * fields.
 */
export function deriveDeltaTemplate(
  text: string,
  message: SseMessage,
  patched: SseMessage,
  pattern: TextDeltaMessagePattern,
): DeltaTemplate | null {
  const delta = parseDelta(message.data, pattern)
  // Only an event that ends with a single `data` line has a template.
  if (delta === null || !text.endsWith(`${message.data}\n\n`)) return null
  const end = text.length - message.data.length - 2
  const previousEnd = text.lastIndexOf('\n\n', end - 1)
  const head = text.slice(previousEnd < 0 ? 0 : previousEnd + 2, end)
  // Each event ends with `\n\n`, so `head` contains only one. With `\r` as line end, it may contain
  // several.
  if (head.includes('\r')) return null
  const { template: data, values, textHoleIndex } = delta
  const rawEvent = addFrame(data, head)
  const common = { eventName: message.event, rawEvent, data, textHoleIndex }
  if (patched === message) return { ...common, patchedEvent: null }
  const patchedDelta = parseDelta(patched.data, pattern)
  if (patchedDelta?.textHoleIndex !== textHoleIndex || !haveSameValues(patchedDelta.values, values))
    return null
  const patchedHead = formatSseMessage({ ...patched, data: '' }).slice(0, -2)
  return { ...common, patchedEvent: addFrame(patchedDelta.template, patchedHead) }
}

/**
 * Returns the template of the complete event: `head` (the text before the data), the data, and a blank
 * line.
 */
function addFrame({ fixed, holes }: TextTemplate, head: string): TextTemplate {
  const last = fixed.length - 1
  const ended = fixed.with(last, `${fixed[last]}\n\n`)
  return { fixed: ended.with(0, head + ended[0]), holes }
}

/** Matches the content of a JSON string, without the quotes. */
const JSON_STRING_CONTENT =
  // oxlint-disable-next-line no-control-regex -- JSON allows none in a string
  /[^"\\\u0000-\u001F]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001F]*)*/y
const JSON_NUMBER = /(?:0|[1-9]\d*)/y

/** Matches the start of fields that have another value in every event, and that no decoder reads. */
const VARYING_FIELDS = /"obfuscation": ?"|"sequence_number": ?(?=\d)/g

interface ParsedDelta {
  readonly template: TextTemplate
  /** Values of this event in the holes, in order. */
  readonly values: readonly string[]
  readonly textHoleIndex: number
}

function parseDelta(
  data: string,
  { before, after, excludedPatterns }: TextDeltaMessagePattern,
): ParsedDelta | null {
  if (excludedPatterns.some((pattern) => pattern.test(data))) return null
  const [beforeText] = before.exec(data) ?? []
  if (beforeText === undefined) return null
  const textStart = beforeText.length
  const starts = [...data.matchAll(VARYING_FIELDS)].map(({ 0: name, index }) => index + name.length)
  starts.push(textStart)
  starts.sort((one, other) => one - other)
  const fixed: string[] = []
  const holes: RegExp[] = []
  const values: string[] = []
  let end = 0
  for (const start of starts) {
    const hole = data[start - 1] === '"' ? JSON_STRING_CONTENT : JSON_NUMBER
    const value = readValueAt(hole, data, start)
    if (value === null || start < end) return null
    fixed.push(data.slice(end, start))
    holes.push(hole)
    values.push(value)
    end = start + value.length
    if (start !== textStart) continue
    // A delta of only white space has no template, because a decoder may treat it specially.
    if (isBlank(value) || !after.test(data.slice(end))) return null
  }
  fixed.push(data.slice(end))
  return { template: { fixed, holes }, values, textHoleIndex: starts.indexOf(textStart) }
}

function isBlank(value: string): boolean {
  return (JSON.parse(`"${value}"`) as string).trim() === ''
}

/**
 * Matches the event that starts at `start`, and adds its hole values to `values`. Returns the index after
 * the event, or -1 without a match.
 */
export function matchDeltaTemplate(
  { fixed, holes }: TextTemplate,
  text: string,
  start: number,
  values: string[],
): number {
  let end = start
  for (let index = 0; index < fixed.length; index += 1) {
    const piece = fixed[index] ?? ''
    // Comparing slices is faster than `startsWith`, which compares character by character.
    if (text.slice(end, end + piece.length) !== piece) return -1
    end += piece.length
    const hole = holes[index]
    if (hole === undefined) return end
    const value = readValueAt(hole, text, end)
    if (value === null) return -1
    values.push(value)
    end += value.length
  }
  return end
}

function readValueAt(hole: RegExp, text: string, start: number): string | null {
  hole.lastIndex = start
  return hole.test(text) ? text.slice(start, hole.lastIndex) : null
}

export function fillDeltaTemplate({ fixed }: TextTemplate, values: readonly string[]): string {
  let text = ''
  for (let index = 0; index < fixed.length; index += 1) text += fixed[index] + (values[index] ?? '')
  return text
}

function haveSameValues(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((value, index) => value === others[index])
}
