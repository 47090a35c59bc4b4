/** Checks an answer for everything that Open WebUI could not process or would show wrongly. */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'

/** The lines of one answer and the request that they answer. */
export interface Watched {
  readonly lines: readonly string[]
  readonly connection: 'chat' | 'responses' | 'stateful'
  /** True if the gateway can recognize Open WebUI by its headers. */
  readonly isKnown: boolean
  /** True if the answer continues an existing text. */
  readonly isContinued: boolean
  readonly isTask: boolean
  /** False for a stopped or broken stream, which has no end to check. */
  readonly isWhole: boolean
}

export const MARKER = /\[([0-9A-HJKMNP-TV-Z]{20})\]: #/g

export function markersIn(text: string): readonly string[] {
  return [...text.matchAll(MARKER)].map(([, id = '']) => id)
}

export function findFaultsInAnswer(watched: Watched): readonly string[] {
  const { lines, isKnown, isTask, isContinued, isWhole } = watched
  const chunks = lines.flatMap(chunkOf)
  const deltas = chunks.flatMap(textsOf)
  const text = deltas.join('')
  return [
    ...lines.filter((line) => Buffer.byteLength(line) >= 65_536).map(() => 'a line over 64 KiB'),
    ...chunks.flatMap((chunk) => chunkFaults(chunk, isKnown)),
    ...(isTask && markersIn(text).length > 0 ? ['a marker in the answer to a task'] : []),
    ...markerFaults(deltas),
    ...(isKnown && isContinued && text !== '' && !text.startsWith('\n\n')
      ? ['what is continued does not begin with a blank line']
      : []),
    ...(isWhole ? endFaults(chunks, watched) : []),
  ]
}

function chunkOf(line: string): readonly JsonObject[] {
  if (!line.startsWith('data:')) return []
  try {
    const json: unknown = JSON.parse(line.slice('data:'.length))
    return isObject(json) ? [json] : []
  } catch {
    return []
  }
}

function textsOf(chunk: JsonObject): readonly string[] {
  if (chunk['type'] === 'response.output_text.delta') return [String(chunk['delta'])]
  const content = deltaOf(chunk)['content']
  return typeof content === 'string' && content !== '' ? [content] : []
}

function deltaOf({ choices }: JsonObject): JsonObject {
  const [choice] = Array.isArray(choices) ? (choices as readonly Json[]) : []
  return isObject(choice) && isObject(choice['delta']) ? choice['delta'] : {}
}

/** Fields of a chunk that Open WebUI ignores; it forwards others to the browser or runs them. */
const KNOWN: ReadonlySet<string> = new Set(
  'id object created model choices usage error system_fingerprint service_tier obfuscation'.split(
    ' ',
  ),
)

function chunkFaults(chunk: JsonObject, isKnown: boolean): readonly string[] {
  const { type, choices, error, item, event } = chunk
  if (typeof type === 'string') {
    const output = isObject(item) && item['type'] === 'function_call_output' ? item['output'] : []
    return Array.isArray(output) ? [] : ['the output of a call is not a list of parts']
  }
  const isBoth = choices !== undefined && error !== undefined
  // A status event is the only one that a gateway may send.
  const isStatus = isKnown && isObject(event) && event['type'] === 'status'
  const strange = Object.keys(chunk).filter(
    (key) => !KNOWN.has(key) && !(key === 'event' && isStatus),
  )
  return [
    ...(isBoth ? ['`choices` and `error` in one chunk'] : []),
    ...strange.map((key) => `a chunk with \`${key}\``),
  ]
}

/** A marker must come in one delta, between blank lines, and not in a code fence. */
function markerFaults(deltas: readonly string[]): readonly string[] {
  const text = deltas.join('')
  const inOne = deltas.flatMap(markersIn)
  const faults = markersIn(text).length === inOne.length ? [] : ['a marker in pieces']
  let before = ''
  for (const delta of deltas) {
    for (const { index, 0: marker } of delta.matchAll(MARKER)) {
      const above = before + delta.slice(0, index)
      const below = delta.slice(index + marker.length)
      if (above.trim() !== '' && !above.endsWith('\n\n'))
        faults.push('no blank line above a marker')
      if (!below.startsWith('\n\n')) faults.push('no blank line below a marker')
      if (isInFence(above)) faults.push('a marker in a fence')
    }
    before += delta
  }
  return faults
}

function isInFence(above: string): boolean {
  let fence: string | null = null
  for (const line of above.split('\n')) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    if (mark === undefined) continue
    if (fence === null) fence = mark
    else if (mark.startsWith(fence) && line.trim() === mark) fence = null
  }
  return fence !== null
}

function endFaults(
  chunks: readonly JsonObject[],
  { connection, isKnown, isContinued, lines }: Watched,
): readonly string[] {
  if (connection === 'chat') {
    if (chunks.some(({ error }) => error !== undefined)) return []
    const counted = chunks.filter(({ usage }) => isObject(usage)).length
    return [
      // Other clients get the usage only on request.
      ...(counted === 1 || (counted === 0 && !isKnown) ? [] : [`${counted} chunks with usage`]),
      ...(lines.includes('data: [DONE]') ? [] : ['no [DONE]']),
    ]
  }
  const completed = chunks.find(({ type }) => type === 'response.completed')
  if (completed === undefined) return []
  const response = isObject(completed['response']) ? completed['response'] : {}
  const output = Array.isArray(response['output']) ? response['output'].length : 0
  const done = chunks.filter(({ type }) => type === 'response.output_item.done').length
  return [
    ...(isObject(response['usage']) ? [] : ['`response.completed` without usage']),
    // Versions disagree whether the output takes the place of what was continued.
    ...(output === (isContinued && isKnown ? 0 : done)
      ? []
      : [`${output} items at the end of a response of ${done}`]),
  ]
}
