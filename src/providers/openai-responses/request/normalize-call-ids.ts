/**
 * A `call_id` as this wire accepts it: at most 64 characters. A longer one is cut and told apart by
 * a hash of the whole, so that a call and its output, shortened on their own, still match.
 */
export function shortenCallId(callId: string): string {
  return callId.length <= MAX_CALL_ID_CHARS
    ? callId
    : `${callId.slice(0, MAX_CALL_ID_CHARS - 15)}_${hash(callId)}`
}

const MAX_CALL_ID_CHARS = 64

/** 64 bits of FNV-1a, in two halves with different beginnings; 14 characters. */
function hash(text: string): string {
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x01000193)
  }
  return toBase36(low) + toBase36(high)
}

function toBase36(value: number): string {
  return (value >>> 0).toString(36).padStart(7, '0')
}
