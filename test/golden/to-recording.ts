/**
 * Converts exchanges to recordings: numbers ids, shows JSON as JSON where that loses no byte, and replaces
 * repeated values by their hash.
 */
import { createHash } from 'node:crypto'
import { pythonJson } from '../support/open-webui/python-json.ts'
import type { Exchange, Headers } from './record-case.ts'

/** The parts of one recorded exchange. */
export type Recording = Readonly<Record<string, unknown>>

export function toRecording(exchanges: readonly Exchange[]): readonly Recording[] {
  const named = idNamer()
  const shorten = shortener()
  const shown = (text: string): unknown => shorten(readable(named(text)))
  const shownHeaders = (headers: Headers): unknown => shorten(namedHeaders(headers, named))
  return exchanges.map((exchange) => ({
    asked: named(exchange.asked),
    ...ifAny('request headers', shownHeaders(exchange.requestHeaders)),
    request: shown(exchange.request),
    sent: exchange.sent.map(({ to, headers, body }) => ({
      to: named(to),
      headers: shownHeaders(headers),
      body: shown(body),
    })),
    status: exchange.status,
    'answer headers': shownHeaders(exchange.answerHeaders),
    answer: shown(exchange.answer),
    ...(exchange.isBrokenOff ? { 'broken off': true } : {}),
    ...ifAny(
      'explained',
      Object.fromEntries(
        Object.entries(exchange.explained).map(([how, text]) => [named(how), shown(text)]),
      ),
    ),
  }))
}

function ifAny(name: string, part: unknown): object {
  return JSON.stringify(part) === '{}' ? {} : { [name]: part }
}

/** Headers that differ from run to run or follow from the body. */
const VOLATILE = new Set([
  'connection',
  'content-length',
  'date',
  'host',
  'keep-alive',
  'transfer-encoding',
])

function namedHeaders(headers: Headers, named: (text: string) => string): Headers {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !VOLATILE.has(name.toLowerCase()))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, named(value)]),
  )
}

/** Turn ids start with the time, which is fixed to the beginning of 2026. */
const IDS = /01KE[0-9A-HJKMNP-TV-Z]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** A model sees only the last 8 characters of a fact's id. */
const ENDS = /\[([0-9A-HJKMNP-TV-Z]{8})\]/g
const PORT = /127\.0\.0\.1:\d+/g

/** Numbers ids by their first occurrence, and keeps the text around them, e.g. `resp_`. */
function idNamer(): (text: string) => string {
  const names = new Map<string, string>()
  const nameOf = (id: string, kind: string): string => {
    const name = names.get(id) ?? `<${kind}-${names.size + 1}>`
    names.set(id, name)
    return name
  }
  return (text) =>
    text
      .replaceAll(IDS, (id) => nameOf(id, id.includes('-') ? 'uuid' : 'id'))
      .replaceAll(ENDS, (_, end: string) => `[${nameOf(end, 'end')}]`)
      .replaceAll(PORT, '127.0.0.1:<port>')
}

/** Parses a text if writing the value gives the same text; else returns the text, or its SSE events. */
function readable(text: string): unknown {
  if (/^(event|data): /m.test(text) && !text.startsWith('{'))
    return text.split(/(?<=\n\n)/).map(frame)
  const json = parseJson(text)
  if (json === undefined) return text
  if (JSON.stringify(json) === text) return json
  return pythonJson(json) === text ? { '(with blanks)': json } : text
}

function frame(text: string): unknown {
  const [, name, data = ''] = /^(?:event: (.+)\n)?data: (.*)\n\n$/.exec(text) ?? []
  const json = parseJson(data)
  if (json === undefined || JSON.stringify(json) !== data) return text
  if (name === undefined) return { data: json }
  return (json as { readonly type?: string }).type === name ? { event: json } : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Shorter values are as readable as a reference. */
const WORTH_NAMING = 60
/** Longer texts are cut to their first 200 characters. */
const MAX_CHARS = 2000
const HEAD_CHARS = 200

/**
 * Shortens a recording without loss: a value that the case has shown before becomes its hash; a response or
 * chunk with the same fields as the last one becomes the difference; a very long text becomes its beginning
 * and the hash of all of it.
 */
function shortener(): (value: unknown) => unknown {
  const seen = new Set<string>()
  const last = new Map<string, Readonly<Record<string, unknown>>>()
  const shorten = (value: unknown): unknown => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'string')) return value
    const json = JSON.stringify(value)
    const hash = createHash('sha256').update(json).digest('hex').slice(0, 8)
    if (json.length >= WORTH_NAMING) {
      if (seen.has(hash)) return `(seen ${hash})`
      seen.add(hash)
    }
    if (typeof value === 'string') {
      return value.length <= MAX_CHARS
        ? value
        : `${value.slice(0, HEAD_CHARS)} … (${value.length} characters, ${hash})`
    }
    if (Array.isArray(value)) return value.map(shorten)
    return shortenFields(value as Readonly<Record<string, unknown>>)
  }
  const shortenFields = (value: Readonly<Record<string, unknown>>): unknown => {
    const kind = kindOf(value)
    const before = kind === null ? undefined : last.get(kind)
    if (kind !== null) last.set(kind, value)
    const fields = Object.entries(value)
    const isAlike = before !== undefined && Object.keys(before).join() === Object.keys(value).join()
    if (!isAlike) return Object.fromEntries(fields.map(([name, own]) => [name, shorten(own)]))
    const changed = fields.filter(
      ([name, own]) => JSON.stringify(own) !== JSON.stringify(before[name]),
    )
    const told = Object.fromEntries(changed.map(([name, own]) => [name, shorten(own)]))
    return { [`(${kind} as before, but)`]: told }
  }
  return shorten
}

/** Returns a key for values that occur several times in a case with small differences. */
function kindOf(value: Readonly<Record<string, unknown>>): string | null {
  const { object, type } = value
  if (typeof object === 'string') return object.split('.').at(-1) ?? object
  return typeof type === 'string' && 'sequence_number' in value ? type : null
}
