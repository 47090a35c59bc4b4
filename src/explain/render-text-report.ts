/**
 * An explanation as a picture in plain text, 80 columns wide: what the request is made of, how much of
 * it is new to the cache and why, and what became of everything that was said.
 */
import { isObject, type Json, type JsonObject } from '../core/json/json.ts'
import { SIZE_PARTS } from './request-size-by-part.ts'
import { countColumns, padToColumns, truncateToColumns, wrapToColumns } from './terminal-columns.ts'

const WIDTH = 80
const INDENT = 14
const BAR = 28

export function renderTextReport(explanation: JsonObject): string {
  const lines = [
    ...headOf(explanation),
    '',
    ...partsOf(explanation),
    '',
    ...cacheOf(explanation),
    '',
    ...itemsOf(explanation),
    ...othersOf(explanation),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function headOf(explanation: JsonObject): readonly string[] {
  const upstream = objectIn(explanation, 'upstream')
  const policy = objectIn(explanation, 'policy')
  const id = explanation['id'] === undefined ? 'dry run' : textIn(explanation, 'id')
  const place = `${textIn(upstream, 'model')} at ${textIn(upstream, 'name')} (${textIn(upstream, 'wire')})`
  const changes = listIn(policy, 'changes').map((change) => {
    const said = `${textIn(change, 'field')} = ${JSON.stringify(change['value'])}`
    return `${said} (${textIn(change, 'by')})`
  })
  const room = WIDTH - countColumns(id)
  return [
    padToColumns(truncateToColumns(place, room - 2), room) + id,
    ...labelled(
      'policy',
      [`${textIn(policy, 'name')} (${textIn(policy, 'by')})`, ...changes].join(', '),
    ),
    ...roundOf(explanation),
  ]
}

/** Most answers have one, of which nothing is said. */
function roundOf(explanation: JsonObject): readonly string[] {
  const rounds = numberIn(explanation, 'rounds')
  if (rounds < 2) return []
  return labelled('round', `${numberIn(explanation, 'round')}, of 0 to ${rounds - 1}`)
}

function partsOf(explanation: JsonObject): readonly string[] {
  const parts = objectIn(explanation, 'parts')
  const sent = objectIn(objectIn(explanation, 'size'), 'sent')
  const whole = objectIn(objectIn(explanation, 'size'), 'full_replay')
  const window = objectIn(explanation, 'window')
  const most = Math.max(1, ...SIZE_PARTS.map((part) => numberIn(objectIn(parts, part), 'tokens')))
  const rows = SIZE_PARTS.flatMap((part) => {
    const { tokens, bytes } = sizeIn(objectIn(parts, part), 'tokens')
    if (tokens === 0 && bytes === 0) return []
    const bar = '█'.repeat(Math.ceil((tokens / most) * BAR))
    return [
      padToColumns(part.replace('_', ' '), INDENT) +
        padToColumns(bar, BAR) +
        figures(tokens, bytes),
    ]
  })
  const total = sizeIn(sent, 'estimated_tokens')
  const replay = sizeIn(whole, 'estimated_tokens')
  const room =
    window['tokens'] === null
      ? 'unknown'
      : `${grouped(numberIn(window, 'tokens'))} tokens, room for ${grouped(numberIn(window, 'room'))} more`
  return [
    ...rows,
    padToColumns('sent', INDENT + BAR) + figures(total.tokens, total.bytes),
    padToColumns('full replay', INDENT + BAR) + figures(replay.tokens, replay.bytes),
    ...labelled('window', room),
  ]
}

function cacheOf(explanation: JsonObject): readonly string[] {
  const cache = objectIn(explanation, 'cache')
  const prefix = objectIn(cache, 'prefix')
  const cause = objectIn(cache, 'cause')
  const first = cache['first_difference']
  const where = isObject(first) ? `; ${placeOf(first)}` : ''
  const known =
    cache['previous'] === null
      ? ''
      : `${grouped(numberIn(prefix, 'estimated_tokens'))} tokens are as they were before${where}. `
  const by = cause['by'] === undefined ? '' : ` (${textIn(cause, 'by')})`
  const usage = explanation['usage']
  const reported = cache['reported_cached_tokens']
  const rounds = numberIn(explanation, 'rounds')
  const counted =
    isObject(usage) && usage['input_tokens'] !== null
      ? labelled(
          'counted',
          `${grouped(numberIn(usage, 'input_tokens'))} tokens of input${rounds < 2 ? '' : ' in all rounds'}, ${typeof reported === 'number' ? grouped(reported) : 'nobody says how many'} of them from the cache`,
        )
      : []
  return [...labelled('cache', `${known}${textIn(cause, 'sentence')}${by}`), ...counted]
}

/** What is missing stands at no byte. */
function placeOf(difference: JsonObject): string {
  const path = textIn(difference, 'path')
  return typeof difference['byte'] === 'number'
    ? `the first difference is at byte ${grouped(difference['byte'])}, ${path}`
    : `what was at ${path} is not there any more`
}

const MARKS: Readonly<Record<string, string>> = {
  sent: '=',
  changed: '~',
  dropped: '-',
  added: '+',
  moved: '>',
}

function itemsOf(explanation: JsonObject): readonly string[] {
  const items = listIn(objectIn(explanation, 'items'), 'list')
  const reasons = reasonsOf(items)
  const lettersOf = (item: JsonObject): string =>
    listIn(item, 'reasons')
      .map((reason) => reasons.get(sentenceOf(reason))?.letter ?? '')
      .join(',')
  const widest = Math.max(0, ...items.map((item) => lettersOf(item).length))
  return [
    Object.entries(MARKS)
      .map(([fate, mark]) => `${mark} ${fate}`)
      .join('   '),
    '',
    ...items.map((item) => {
      const place = item['place'] === null ? '' : textIn(item, 'place')
      const tokens = grouped(numberIn(item, 'tokens'))
      const fate = `${MARKS[textIn(item, 'fate')] ?? '?'} ${lettersOf(item).padEnd(widest)}`
      const line = `${fate}${place.padStart(5)}  ${padToColumns(truncateToColumns(speakerOf(item), 14), 15)}`
      const room = WIDTH - countColumns(line) - tokens.length - 1
      return `${line}${padToColumns(truncateToColumns(textIn(item, 'preview'), room), room)} ${tokens}`
    }),
    ...legendOf(reasons),
  ]
}

type Reasons = ReadonlyMap<string, { readonly letter: string; items: number }>

/** What holds for many items is told once, below them. */
function reasonsOf(items: readonly JsonObject[]): Reasons {
  const reasons = new Map<string, { readonly letter: string; items: number }>()
  for (const sentence of items.flatMap((item) => listIn(item, 'reasons').map(sentenceOf))) {
    const known = reasons.get(sentence)
    if (known === undefined) reasons.set(sentence, { letter: letterAt(reasons.size), items: 1 })
    else known.items += 1
  }
  return reasons
}

function legendOf(reasons: Reasons): readonly string[] {
  const lines = [...reasons].flatMap(([sentence, { letter, items }]) => {
    const count = items === 1 ? '' : ` ${grouped(items)} items.`
    return wrapToColumns(`${sentence}${count}`, WIDTH - 4).map(
      (line, at) => padToColumns(at === 0 ? letter : '', 4) + line,
    )
  })
  return lines.length === 0 ? [] : ['', ...lines]
}

/** a to z, and on with aa. */
function letterAt(place: number): string {
  const letter = String.fromCharCode(97 + (place % 26))
  return place < 26 ? letter : letterAt(Math.floor(place / 26) - 1) + letter
}

function sentenceOf(reason: JsonObject): string {
  const by = reason['by'] === undefined ? '' : ` (${textIn(reason, 'by')})`
  return `${textIn(reason, 'sentence')}${by}`
}

const KINDS: Readonly<Record<string, string>> = {
  function_call: 'call',
  custom_tool_call: 'call',
  function_call_output: 'output',
  custom_tool_call_output: 'output',
}

function speakerOf(item: JsonObject): string {
  const author = item['author'] === undefined ? '' : ` ${textIn(item, 'author')}`
  if (item['role'] !== undefined) return `${textIn(item, 'role')}${author}`
  return KINDS[textIn(item, 'type')] ?? textIn(item, 'type')
}

/** What the notes say of the request and not of an item. */
function othersOf(explanation: JsonObject): readonly string[] {
  const notes = listIn(explanation, 'notes').filter(
    (note) => note['field'] !== undefined || note['at'] === undefined,
  )
  const shown = new Set(
    listIn(objectIn(explanation, 'items'), 'list').flatMap((item) =>
      listIn(item, 'reasons').map((reason) => `${textIn(reason, 'why')} ${textIn(reason, 'did')}`),
    ),
  )
  const lines = notes
    .filter(
      (note) =>
        note['field'] !== undefined || !shown.has(`${textIn(note, 'why')} ${textIn(note, 'did')}`),
    )
    .flatMap((note) => {
      const field = note['field'] === undefined ? '' : `${textIn(note, 'field')}: `
      const text = `${field}${textIn(note, 'detail')}`
      const [first = '', ...rest] = wrapToColumns(text, WIDTH - 8)
      const mark = MARKS[textIn(note, 'did')] ?? '-'
      return [`${mark}       ${first}`, ...rest.map((line) => `        ${line}`)]
    })
  return lines.length === 0 ? [] : ['', ...lines]
}

function labelled(label: string, text: string): readonly string[] {
  return wrapToColumns(text, WIDTH - INDENT).map(
    (line, at) => padToColumns(at === 0 ? label : '', INDENT) + line,
  )
}

function figures(tokens: number, bytes: number): string {
  return `${`${grouped(tokens)} tokens`.padStart(20)}${sizeOf(bytes).padStart(16)}`
}

function sizeOf(bytes: number): string {
  return bytes < 10_000 ? `${grouped(bytes)} bytes` : `${grouped(Math.round(bytes / 1000))} kB`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

function sizeIn(size: JsonObject, tokens: string) {
  return { tokens: numberIn(size, tokens), bytes: numberIn(size, 'bytes') }
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}

function listIn(object: JsonObject, name: string): readonly JsonObject[] {
  const value: Json | undefined = object[name]
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
}

function numberIn(object: JsonObject, name: string): number {
  const value = object[name]
  return typeof value === 'number' ? value : 0
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
