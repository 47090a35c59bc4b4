/**
 * Renders an explanation as plain text, 80 columns wide: the size of each part of the request, how much of it the
 * provider has probably cached, why not more, its cost compared with full replay, and the disposition of every item.
 */
import { isObject, type Json, type JsonObject } from '../core/json/json.ts'
import { renderCostTable } from './render-cost-table.ts'
import type { RequestCost } from './request-cost.ts'
import { SIZE_PARTS } from './request-size-by-part.ts'
import { countColumns, padToColumns, truncateToColumns, wrapToColumns } from './terminal-columns.ts'

const REPORT_COLUMNS = 80
const LABEL_COLUMNS = 14
const BAR_COLUMNS = 28

export function renderTextReport(explanation: JsonObject): string {
  const cost = explanation['cost']
  const lines = [
    ...renderHeader(explanation),
    '',
    ...renderParts(explanation),
    '',
    ...renderCache(explanation),
    ...(isObject(cost) ? ['', ...renderCostTable(cost as RequestCost)] : []),
    '',
    ...renderItems(explanation),
    ...renderOtherNotes(explanation),
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function renderHeader(explanation: JsonObject): readonly string[] {
  const upstream = objectIn(explanation, 'upstream')
  const policy = objectIn(explanation, 'policy')
  const id = explanation['id'] === undefined ? 'dry run' : textIn(explanation, 'id')
  const place = `${textIn(upstream, 'model')} at ${textIn(upstream, 'name')} (${textIn(upstream, 'wire')})`
  const changes = listIn(policy, 'changes').map((change) => {
    const assignment = `${textIn(change, 'field')} = ${JSON.stringify(change['value'])}`
    return `${assignment} (${textIn(change, 'by')})`
  })
  const room = REPORT_COLUMNS - countColumns(id)
  return [
    padToColumns(truncateToColumns(place, room - 2), room) + id,
    ...withLabel(
      'policy',
      [`${textIn(policy, 'name')} (${textIn(policy, 'by')})`, ...changes].join(', '),
    ),
    ...renderRound(explanation),
  ]
}

/**
 * Renders the line `round 1 (0 to 2)`, e.g. for the second of three tool rounds; no line for an answer with
 * one round.
 */
function renderRound(explanation: JsonObject): readonly string[] {
  const rounds = numberIn(explanation, 'rounds')
  if (rounds < 2) return []
  return withLabel('round', `${numberIn(explanation, 'round')} (0 to ${rounds - 1})`)
}

function renderParts(explanation: JsonObject): readonly string[] {
  const parts = objectIn(explanation, 'parts')
  const sent = objectIn(objectIn(explanation, 'size'), 'sent')
  const fullReplay = objectIn(objectIn(explanation, 'size'), 'full_replay')
  const window = objectIn(explanation, 'window')
  const maxTokens = Math.max(
    1,
    ...SIZE_PARTS.map((part) => numberIn(objectIn(parts, part), 'tokens')),
  )
  const rows = SIZE_PARTS.flatMap((part) => {
    const size = sizeIn(objectIn(parts, part), 'tokens')
    if (size.tokens === 0 && size.bytes === 0) return []
    const bar = '█'.repeat(Math.ceil((size.tokens / maxTokens) * BAR_COLUMNS))
    return [
      padToColumns(part.replace('_', ' '), LABEL_COLUMNS) +
        padToColumns(bar, BAR_COLUMNS) +
        formatSize(size),
    ]
  })
  const total = sizeIn(sent, 'estimated_tokens')
  const replay = sizeIn(fullReplay, 'estimated_tokens')
  const room =
    window['tokens'] === null
      ? 'unknown'
      : `${formatCount(numberIn(window, 'tokens'))} tokens, room for ${formatCount(numberIn(window, 'room'))} more`
  return [
    ...rows,
    padToColumns('sent', LABEL_COLUMNS + BAR_COLUMNS) + formatSize(total),
    padToColumns('full replay', LABEL_COLUMNS + BAR_COLUMNS) + formatSize(replay),
    ...withLabel('window', room),
  ]
}

function renderCache(explanation: JsonObject): readonly string[] {
  const cache = objectIn(explanation, 'cache')
  const prefix = objectIn(cache, 'prefix')
  const cause = objectIn(cache, 'cause')
  const first = cache['first_difference']
  const where = isObject(first) ? `; ${describePosition(first)}` : ''
  const unchanged =
    cache['previous'] === null
      ? ''
      : `${formatCount(numberIn(prefix, 'estimated_tokens'))} tokens are unchanged${where}. `
  const usage = explanation['usage']
  const reported = cache['reported_cached_tokens']
  const rounds = numberIn(explanation, 'rounds')
  const reportedUsage =
    isObject(usage) && usage['input_tokens'] !== null
      ? withLabel(
          'counted',
          `${formatCount(numberIn(usage, 'input_tokens'))} tokens of input${rounds < 2 ? '' : ' in all rounds'}, ${typeof reported === 'number' ? formatCount(reported) : 'an unknown number'} of them from the cache`,
        )
      : []
  return [...withLabel('cache', unchanged + sentenceOf(cause)), ...reportedUsage]
}

/**
 * Describes the position of the first difference. If a value was removed, the new body has no such
 * position: `tools[0] is no longer there`.
 */
function describePosition(difference: JsonObject): string {
  const path = textIn(difference, 'path')
  return typeof difference['byte'] === 'number'
    ? `the first difference is at byte ${formatCount(difference['byte'])}, ${path}`
    : `${path} is no longer there`
}

const DISPOSITION_SIGNS: Readonly<Record<string, string>> = {
  sent: '=',
  changed: '~',
  dropped: '-',
  added: '+',
  moved: '>',
}

function renderItems(explanation: JsonObject): readonly string[] {
  const items = listIn(objectIn(explanation, 'items'), 'list')
  const reasons = collectReasons(items)
  const lettersOf = (item: JsonObject): string =>
    listIn(item, 'reasons')
      .map((reason) => reasons.get(sentenceOf(reason))?.letter ?? '')
      .join(',')
  const widest = Math.max(0, ...items.map((item) => lettersOf(item).length))
  return [
    Object.entries(DISPOSITION_SIGNS)
      .map(([disposition, sign]) => `${sign} ${disposition}`)
      .join('   '),
    '',
    ...items.map((item) => {
      const place = item['place'] === null ? '' : textIn(item, 'place')
      const tokens = formatCount(numberIn(item, 'tokens'))
      const signAndReasons = `${DISPOSITION_SIGNS[textIn(item, 'fate')] ?? '?'} ${lettersOf(item).padEnd(widest)}`
      const line = `${signAndReasons}${place.padStart(5)}  ${padToColumns(truncateToColumns(speakerOf(item), 14), 15)}`
      const room = REPORT_COLUMNS - countColumns(line) - tokens.length - 1
      return `${line}${padToColumns(truncateToColumns(textIn(item, 'preview'), room), room)} ${tokens}`
    }),
    ...renderLegend(reasons),
  ]
}

type ReasonLetters = ReadonlyMap<string, { readonly letter: string; items: number }>

/** Assigns a letter to each distinct reason. Items show the letters; a legend below them shows the reasons. */
function collectReasons(items: readonly JsonObject[]): ReasonLetters {
  const reasons = new Map<string, { readonly letter: string; items: number }>()
  for (const sentence of items.flatMap((item) => listIn(item, 'reasons').map(sentenceOf))) {
    const reason = reasons.get(sentence)
    if (reason === undefined) reasons.set(sentence, { letter: nthLetter(reasons.size), items: 1 })
    else reason.items += 1
  }
  return reasons
}

function renderLegend(reasons: ReasonLetters): readonly string[] {
  const lines = [...reasons].flatMap(([sentence, { letter, items }]) => {
    const count = items === 1 ? '' : ` ${formatCount(items)} items.`
    return wrapToColumns(`${sentence}${count}`, REPORT_COLUMNS - 4).map(
      (line, index) => padToColumns(index === 0 ? letter : '', 4) + line,
    )
  })
  return lines.length === 0 ? [] : ['', ...lines]
}

/** Returns the letters for an index: 0 → a, 25 → z, 26 → aa. */
function nthLetter(index: number): string {
  const letter = String.fromCharCode(97 + (index % 26))
  return index < 26 ? letter : nthLetter(Math.floor(index / 26) - 1) + letter
}

function sentenceOf(reason: JsonObject): string {
  const by = reason['by'] === undefined ? '' : ` (${textIn(reason, 'by')})`
  return `${textIn(reason, 'sentence')}${by}`
}

const SPEAKERS: Readonly<Record<string, string>> = {
  function_call: 'call',
  custom_tool_call: 'call',
  function_call_output: 'output',
  custom_tool_call_output: 'output',
}

function speakerOf(item: JsonObject): string {
  const author = item['author'] === undefined ? '' : ` ${textIn(item, 'author')}`
  if (item['role'] !== undefined) return `${textIn(item, 'role')}${author}`
  return SPEAKERS[textIn(item, 'type')] ?? textIn(item, 'type')
}

/**
 * Renders the notes about the request or one of its fields. Notes about items are already among the reasons
 * of the items.
 */
function renderOtherNotes(explanation: JsonObject): readonly string[] {
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
      const [first = '', ...rest] = wrapToColumns(text, REPORT_COLUMNS - 8)
      const did = textIn(note, 'did')
      const sign = DISPOSITION_SIGNS[did === 'weakened' ? 'changed' : did] ?? '-'
      return [`${sign}       ${first}`, ...rest.map((line) => `        ${line}`)]
    })
  return lines.length === 0 ? [] : ['', ...lines]
}

function withLabel(label: string, text: string): readonly string[] {
  return wrapToColumns(text, REPORT_COLUMNS - LABEL_COLUMNS).map(
    (line, index) => padToColumns(index === 0 ? label : '', LABEL_COLUMNS) + line,
  )
}

function formatSize({ tokens, bytes }: ReturnType<typeof sizeIn>): string {
  return `${`${formatCount(tokens)} tokens`.padStart(20)}${formatBytes(bytes).padStart(16)}`
}

function formatBytes(bytes: number): string {
  return bytes < 10_000
    ? `${formatCount(bytes)} bytes`
    : `${formatCount(Math.round(bytes / 1000))} kB`
}

function formatCount(count: number): string {
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
