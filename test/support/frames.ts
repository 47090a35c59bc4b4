/** Splits the frames of a WebSocket into answers, and checks their order. */
import type { JsonObject } from '../../src/core/json/json.ts'
import { responsesFaults } from './responses-checker.ts'

const ENDS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** True for the one frame of a rejected request, which has an HTTP status. */
export function isErrorFrame(frame: JsonObject | undefined): boolean {
  return frame?.['type'] === 'error' && 'status' in frame
}

export function endsAnswer(frame: JsonObject): boolean {
  return ENDS.has(frame['type']) || isErrorFrame(frame)
}

/** Returns one list of frames for each answer. Frames after the last end belong to an unfinished answer. */
export function splitIntoAnswers(
  frames: readonly JsonObject[],
): readonly (readonly JsonObject[])[] {
  const answers: JsonObject[][] = []
  let open: JsonObject[] = []
  for (const frame of frames) {
    open.push(frame)
    if (!endsAnswer(frame)) continue
    answers.push(open)
    open = []
  }
  return open.length === 0 ? answers : [...answers, open]
}

/** Returns a sentence for every violation in one answer. */
export function findAnswerFaults(answer: readonly JsonObject[]): readonly string[] {
  const lanes = new Set(answer.map((frame) => frame['stream_id']))
  const faults = lanes.size > 1 ? ['an answer changes its lane'] : []
  if (answer.length === 1 && isErrorFrame(answer[0]))
    return [...faults, ...refusalFaults(answer[0])]
  const messages = answer.map((frame) => ({ data: JSON.stringify(frame) }))
  return [...faults, ...responsesFaults(messages, { sentinel: false })]
}

function refusalFaults(frame: JsonObject = {}): readonly string[] {
  const error = (frame['error'] ?? {}) as JsonObject
  const isWhole =
    typeof frame['status'] === 'number' &&
    typeof error['type'] === 'string' &&
    typeof error['code'] === 'string' &&
    typeof error['message'] === 'string' &&
    'param' in error
  return isWhole ? [] : [`an error that is not whole: ${JSON.stringify(frame)}`]
}
