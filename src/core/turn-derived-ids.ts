/**
 * Builds and parses turn ids and the response, conversation and item ids derived from them.
 *
 * A turn id has 20 of the 26 characters of a ULID: its 10 characters of time, and the last 10 of its
 * random characters. The first 20 would not be unique, because two monotonic ULIDs of one millisecond
 * differ only at the end.
 */
const TURN_ID = /^[0-9A-HJKMNP-TV-Z]{20}$/

export function turnIdFromUlid(ulid: string): string {
  return ulid.slice(0, 10) + ulid.slice(16)
}

/** Returns the 10 characters with which every turn id of that millisecond begins, to compare turn ids with a time. */
export function turnIdPrefixAt(milliseconds: number): string {
  let time = Math.max(0, milliseconds)
  let digits = ''
  for (let position = 0; position < 10; position += 1) {
    digits = (DIGITS[time % 32] ?? '0') + digits
    time = Math.floor(time / 32)
  }
  return digits
}

/**
 * Returns the time of creation, in milliseconds, that a turn id or a `conv_…` id contains; null for any
 * other id, e.g. `conv_mine`.
 */
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

/** Returns the id of the request whose answer is stored as this turn. */
export function requestId(turnId: string): string {
  return `req_${turnId}`
}

export function conversationId(turnId: string): string {
  return `conv_${turnId}`
}

/** Returns the turn id in a response id such as `resp_01M7R8WH3CG7NWY4TNQS`; null if the id has another form. */
export function turnIdOfResponse(responseId: string): string | null {
  return turnIdAfter('resp_', responseId)
}

export function turnIdOfCompletion(completionId: string): string | null {
  return turnIdAfter('chatcmpl-', completionId)
}

/**
 * Returns the turn id in any id of an answer: that of a response or chat completion, the request id `req_…` of its
 * headers, its marker `[…]: #`, or the turn id itself. `chatcmpl_…` is read, too, because people write it like the
 * others. Null if the text is none of these.
 */
export function turnIdOfAnswer(name: string): string | null {
  const [, turnId = ''] = /^(?:resp_|chatcmpl[-_]|req_)?([^_-]+)$/.exec(stripMarker(name)) ?? []
  return TURN_ID.test(turnId) ? turnId : null
}

/** `[01KQZ3V8M6T2X9R4B7C9]: #` → `01KQZ3V8M6T2X9R4B7C9`. */
function stripMarker(text: string): string {
  return text.trim().replace(/^\[(.*)\](?:: ?#)?$/, '$1')
}

function turnIdAfter(prefix: string, id: string): string | null {
  const turnId = id.slice(prefix.length)
  return id.startsWith(prefix) && TURN_ID.test(turnId) ? turnId : null
}

/**
 * The prefixes of item ids by item type. If OpenAI's prefix for a type is not known, the prefix is the gateway's own.
 */
export const ITEM_ID_PREFIXES = {
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
  shell_call_output: 'sho',
  apply_patch_call_output: 'apco',
  local_shell_call: 'lsh',
  local_shell_call_output: 'lsho',
  computer_call: 'cu',
  computer_call_output: 'cuo',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
  program: 'prog',
  program_output: 'prgo',
  additional_tools: 'at',
  mcp_approval_response: 'mcpa',
} as const

const PREFIXES: ReadonlyMap<string, string> = new Map(Object.entries(ITEM_ID_PREFIXES))

/** The position of an item: its index in the input or output of a turn. */
export interface ItemPosition {
  readonly turnId: string
  readonly side: 'in' | 'out'
  readonly index: number
}

/**
 * Derives the id of an item that has none: a prefix, the turn id, `I` for an input item, and the index
 * in base 36. For example, an output message with index 10 gets `msg_<turn id>a`.
 */
export function itemId(
  type: string,
  turnId: string,
  index: number,
  side: ItemPosition['side'] = 'out',
): string {
  const sideLetter = side === 'in' ? 'I' : ''
  return `${PREFIXES.get(type) ?? 'item'}_${turnId}${sideLetter}${index.toString(36)}`
}

const DERIVED_ID = /^[a-z]{2,5}_([0-9A-HJKMNP-TV-Z]{20})(I?)(0|[1-9a-z][0-9a-z]{0,5})$/

/** Returns the position of the item with this id; null if `itemId` cannot have derived the id. */
export function parseItemId(id: string): ItemPosition | null {
  const [, turnId, sideLetter, index] = DERIVED_ID.exec(id) ?? []
  if (turnId === undefined || index === undefined) return null
  return { turnId, side: sideLetter === 'I' ? 'in' : 'out', index: parseInt(index, 36) }
}
