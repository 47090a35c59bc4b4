/**
 * A turn's id is 20 characters: the ten of time and the last ten of randomness of a ULID. (The
 * first twenty of a monotonic ULID are not unique within a millisecond: it counts at its end.)
 * Everything a client sees of a turn is named after it.
 */
const TURN_ID = /^[0-9A-HJKMNP-TV-Z]{20}$/

export function turnIdFromUlid(ulid: string): string {
  return ulid.slice(0, 10) + ulid.slice(16)
}

/** The id that no turn of that time or later is before: ids begin with the time. */
export function minTurnIdAt(milliseconds: number): string {
  let time = Math.max(0, milliseconds)
  let digits = ''
  for (let place = 0; place < 10; place += 1) {
    digits = (DIGITS[time % 32] ?? '0') + digits
    time = Math.floor(time / 32)
  }
  return digits
}

/** When a turn was named, or a conversation that is named after one; `null` for what is named otherwise. */
export function readIdTimeMs(id: string): number | null {
  const turnId = id.startsWith('conv_') ? id.slice('conv_'.length) : id
  if (!TURN_ID.test(turnId)) return null
  let time = 0
  for (const digit of turnId.slice(0, 10)) time = time * 32 + DIGITS.indexOf(digit)
  return time
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export function responseId(turnId: string): string {
  return `resp_${turnId}`
}

export function completionId(turnId: string): string {
  return `chatcmpl-${turnId}`
}

export function conversationId(turnId: string): string {
  return `conv_${turnId}`
}

/** `null` for what cannot be a response of ours. */
export function turnIdOfResponse(responseId: string): string | null {
  return turnIdAfter('resp_', responseId)
}

export function turnIdOfCompletion(completionId: string): string | null {
  return turnIdAfter('chatcmpl-', completionId)
}

function turnIdAfter(prefix: string, id: string): string | null {
  const turnId = id.slice(prefix.length)
  return id.startsWith(prefix) && TURN_ID.test(turnId) ? turnId : null
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  web_search_call: 'ws',
  file_search_call: 'fs',
  code_interpreter_call: 'ci',
  image_generation_call: 'ig',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcpl',
  mcp_approval_request: 'mcpr',
  compaction: 'cmp',
  shell_call: 'sh',
  apply_patch_call: 'apc',
}

/** Where an item stands: the place among what was new before the answer, or in the answer. */
export interface ItemPlace {
  readonly turnId: string
  readonly side: 'in' | 'out'
  readonly index: number
}

/**
 * The id of an item that came without one, the same however often it is asked for. It says where the
 * item stands: behind the turn's id comes its place in base 36, and an `I` before that for an input.
 */
export function itemId(
  type: string,
  turnId: string,
  index: number,
  side: ItemPlace['side'] = 'out',
): string {
  const mark = side === 'in' ? 'I' : ''
  return `${PREFIXES[type] ?? 'item'}_${turnId}${mark}${index.toString(36)}`
}

const DERIVED_ID = /^[a-z]{2,5}_([0-9A-HJKMNP-TV-Z]{20})(I?)(0|[1-9a-z][0-9a-z]{0,5})$/

/** `null` for an id that is not derived from a place. */
export function parseItemId(id: string): ItemPlace | null {
  const [, turnId, mark, index] = DERIVED_ID.exec(id) ?? []
  if (turnId === undefined || index === undefined) return null
  return { turnId, side: mark === 'I' ? 'in' : 'out', index: parseInt(index, 36) }
}
