/**
 * A turn's id is 20 characters: the ten of time and the last ten of randomness of a ULID. (The
 * first twenty of a monotonic ULID are not unique within a millisecond: it counts at its end.)
 * Everything a client sees of a turn is named after it.
 */
const TURN_ID = /^[0-9A-HJKMNP-TV-Z]{20}$/

export function turnIdFromUlid(ulid: string): string {
  return ulid.slice(0, 10) + ulid.slice(16)
}

export function responseId(turnId: string): string {
  return `resp_${turnId}`
}

export function completionId(turnId: string): string {
  return `chatcmpl-${turnId}`
}

/** `null` for what cannot be a response of ours. */
export function turnIdOfResponse(responseId: string): string | null {
  if (!responseId.startsWith('resp_')) return null
  const turnId = responseId.slice('resp_'.length)
  return TURN_ID.test(turnId) ? turnId : null
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}

/** The id of an output item that came without one, the same however often it is asked for. */
export function itemId(type: string, turnId: string, index: number): string {
  return `${PREFIXES[type] ?? 'item'}_${turnId}${index.toString(36)}`
}
