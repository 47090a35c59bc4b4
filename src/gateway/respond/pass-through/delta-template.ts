/**
 * Derives a template from a text delta: the fixed text of the event, with holes for the model's text and for fields
 * that change with every event. An event that matches the template differs from the original only in the holes.
 */
import { formatSseMessage } from '../../../core/stream/sse.ts'
import type { SseMessage, TextDeltaPattern } from '../../../core/stream/stage.ts'

/** The fixed pieces of a text; each piece but the last is followed by a hole, a pattern of its values. */
interface TextTemplate {
  readonly fixed: readonly string[]
  readonly holes: readonly RegExp[]
}

export interface DeltaTemplate {
  readonly event: string | undefined
  /** The complete event of the upstream, with its field names and line ends. */
  readonly raw: TextTemplate
  /** The data of the event alone. */
  readonly data: TextTemplate
  /** The complete event for the client; null if it is sent unchanged. */
  readonly patched: TextTemplate | null
  /** The index of the hole with the model's text. */
  readonly textHole: number
}

/** Returns null if the event is no plain text delta, or if the patched event differs in the value of a hole. */
export function deriveDeltaTemplate(
  text: string,
  message: SseMessage,
  patched: SseMessage,
  pattern: TextDeltaPattern,
): DeltaTemplate | null {
  const delta = parseDelta(message.data, pattern)
  // The fast path needs events with one `data` line at the end. Others are parsed one by one.
  if (delta === null || !text.endsWith(`${message.data}\n\n`)) return null
  const end = text.length - message.data.length - 2
  const previousEnd = text.lastIndexOf('\n\n', end - 1)
  const head = text.slice(previousEnd < 0 ? 0 : previousEnd + 2, end)
  // `head` was cut at `\n\n`: if lines end with `\r`, it may still hold complete events.
  if (head.includes('\r')) return null
  const { template: data, values, textHole } = delta
  const common = { event: message.event, raw: addFrame(data, head), data, textHole }
  if (patched === message) return { ...common, patched: null }
  const patchedDelta = parseDelta(patched.data, pattern)
  if (patchedDelta?.textHole !== textHole || !haveSameValues(patchedDelta.values, values))
    return null
  const patchedHead = formatSseMessage({ ...patched, data: '' }).slice(0, -2)
  return { ...common, patched: addFrame(patchedDelta.template, patchedHead) }
}

/** Adds the text of the event before its data, and the blank line after it. */
function addFrame({ fixed, holes }: TextTemplate, head: string): TextTemplate {
  const last = fixed.length - 1
  const ended = fixed.with(last, `${fixed[last]}\n\n`)
  return { fixed: ended.with(0, head + ended[0]), holes }
}

/** The content of a JSON string, without its quotes. */
const JSON_STRING_CONTENT =
  // oxlint-disable-next-line no-control-regex -- JSON allows none in a string
  /[^"\\\u0000-\u001F]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001F]*)*/y
const JSON_NUMBER = /(?:0|[1-9]\d*)/y

/** Fields that differ between any two events and that no decoder reads. */
const VARYING_FIELDS = /"obfuscation": ?"|"sequence_number": ?(?=\d)/g

interface ParsedDelta {
  readonly template: TextTemplate
  /** The values of this event in the holes. */
  readonly values: readonly string[]
  readonly textHole: number
}

function parseDelta(
  data: string,
  { before, after, excludedPatterns }: TextDeltaPattern,
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
    // A decoder may treat white space in another way than text.
    if (isBlank(value) || !after.test(data.slice(end))) return null
  }
  fixed.push(data.slice(end))
  return { template: { fixed, holes }, values, textHole: starts.indexOf(textStart) }
}

function isBlank(value: string): boolean {
  return (JSON.parse(`"${value}"`) as string).trim() === ''
}

/** Adds the values of the event at `start` to `values`. Returns its end, or -1 if it does not match. */
export function matchDeltaTemplate(
  { fixed, holes }: TextTemplate,
  text: string,
  start: number,
  values: string[],
): number {
  let end = start
  for (let index = 0; index < fixed.length; index += 1) {
    const piece = fixed[index] ?? ''
    // Faster than `startsWith`, which compares character by character.
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
