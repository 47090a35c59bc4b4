/**
 * Describes in a few words what has changed before earlier reasoning, e.g. `the date in the system prompt changed`. The
 * words follow a colon in a status line, so they are for users who know neither items nor wires.
 */
import { isObject, tryParseJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { createNoteDescriber } from '../describe-notes.ts'
import type { ExplainedRequest } from '../encode-and-decode-sent-request.ts'
import type { ItemDisposition } from '../item-dispositions.ts'
import { compareRequests, INSTRUCTION_FIELDS, type JsonPath } from './compare-requests.ts'
import type { DifferenceCause } from './difference-cause.ts'
import { findDifferenceCause } from './find-difference-cause.ts'
import { differsOnlyInDates } from './differs-only-in-dates.ts'

/** Returns null if the two requests do not show the cause. */
export function describePrefixChange(
  earlier: ExplainedRequest,
  request: ExplainedRequest,
): string | null {
  const [before, now] = [tryParseJsonObject(earlier.body), tryParseJsonObject(request.body)]
  if (before === null || now === null) return null
  const comparison = compareRequests(before, now)
  const { differencePath } = comparison
  if (differencePath === null) return null
  if (differencePath[0] === 'tools') return 'the tools changed'
  const texts = [before, now].map((body) => readText(body, differencePath)) as [Text, Text]
  if (isInInstructions(differencePath, now)) return describeInstructionChange(texts)
  const { summary, dispositions } = request
  const cause = findDifferenceCause({
    comparison,
    before: earlier,
    now: { summary, dispositions },
    wire: summary.upstream.wire,
    describeNote: createNoteDescriber(summary),
  })
  return describeItemChange(cause, earlier.dispositions, texts)
}

/** The text that differs; null if it is missing in one of the requests. */
type Text = string | null

function describeInstructionChange([before, now]: readonly [Text, Text]): string {
  const isDate = before !== null && now !== null && differsOnlyInDates(before, now)
  return isDate ? 'the date in the system prompt changed' : 'the system prompt changed'
}

/** Chat Completions and Responses may have the instructions among the messages. */
function isInInstructions([field, index]: JsonPath, body: JsonObject): boolean {
  if (INSTRUCTION_FIELDS.some((name) => name === field)) return true
  const list = field === undefined ? null : body[field]
  const entry: Json | undefined =
    Array.isArray(list) && typeof index === 'number' ? (list as readonly Json[])[index] : undefined
  return isObject(entry) && (entry['role'] === 'system' || entry['role'] === 'developer')
}

function describeItemChange(
  { who, why, place, sentence }: DifferenceCause,
  earlierItems: readonly ItemDisposition[],
  texts: readonly [Text, Text],
): string | null {
  // The drop of the reasoning itself is no cause: what changed is in a field that the comparison does not read.
  if (why === 'reasoning-of-another-prefix' || who === 'route') return null
  if (who === 'gateway') return lowerFirst(sentence).replace(/\.$/, '')
  if (who === 'nobody') return null
  if (texts.some((text) => text?.startsWith(OPEN_WEBUI_DOCUMENTS) === true))
    return 'the text of a file is sent with the newest question only'
  const type = earlierItems.find((item) => item.place === place)?.type ?? 'message'
  if (type === 'reasoning') return 'an earlier thought was removed'
  return type === 'message' ? 'an earlier message changed' : 'an earlier tool call changed'
}

/** Open WebUI puts the text of files in front of the newest question, and removes it from earlier ones. */
const OPEN_WEBUI_DOCUMENTS = '### Task:\nRespond to the user query'

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

function readText(body: JsonObject, path: JsonPath): Text {
  let value: Json | undefined = body
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Json[])[Number(step)]
    else value = isObject(value) ? value[String(step)] : undefined
  }
  return typeof value === 'string' ? value : null
}
