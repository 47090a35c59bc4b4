/** Converts a finished response to its stream of events. */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { objects, splitIntoPieces, type AnswerStyle } from './service.ts'

export function responsesEvents(whole: JsonObject, manner: AnswerStyle): readonly string[] {
  const begun = {
    ...whole,
    status: 'in_progress',
    incomplete_details: null,
    output: [],
    usage: null,
  }
  const events: readonly JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...objects(whole['output']).flatMap(itemEvents),
    { type: `response.${String(whole['status'])}`, response: whole },
  ]
  const isOdd = manner === 'odd'
  const framed = events.map((event, sequence_number) =>
    framedAs({ ...event, sequence_number }, isOdd),
  )
  return isOdd ? [...framed, 'data: [DONE]\n\n'] : framed
}

/** Bedrock writes the event name after the data, other servers none; OpenAI pads its deltas. */
function framedAs(event: JsonObject, isOdd: boolean): string {
  const padding = 'delta' in event ? { obfuscation: 'xYz1' } : {}
  const data = `data: ${JSON.stringify({ ...event, ...padding })}\n`
  if (!isOdd) return `event: ${String(event['type'])}\n${data}\n`
  return Number(event['sequence_number']) % 2 === 0
    ? `${data}event: ${String(event['type'])}\n\n`
    : `${data}\n`
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const { encrypted_content: _sealed, ...plain } = item
  const empty = { ...plain, summary: [], content: [], arguments: '', status: 'in_progress' }
  const begun = Object.fromEntries(Object.entries(empty).filter(([key]) => key in item))
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...between(item, { item_id: item['id'], output_index }),
    { type: 'response.output_item.done', output_index, item },
  ]
}

function between(item: JsonObject, place: JsonObject): readonly JsonObject[] {
  switch (item['type']) {
    case 'reasoning':
      return objects(item['summary']).flatMap((part, summary_index) => {
        const at = { ...place, summary_index }
        return [
          {
            type: 'response.reasoning_summary_part.added',
            ...at,
            part: { type: 'summary_text', text: '' },
          },
          ...textEvents('response.reasoning_summary_text', at, String(part['text']), 'text'),
          { type: 'response.reasoning_summary_part.done', ...at, part },
        ]
      })
    case 'message':
      return objects(item['content']).flatMap((part, content_index) => {
        const at = { ...place, content_index }
        const field = part['type'] === 'refusal' ? 'refusal' : 'text'
        const more = field === 'text' ? { logprobs: [] } : {}
        return [
          { type: 'response.content_part.added', ...at, part: { ...part, [field]: '' } },
          ...textEvents(
            field === 'text' ? 'response.output_text' : 'response.refusal',
            { ...at, ...more },
            String(part[field]),
            field,
          ),
          { type: 'response.content_part.done', ...at, part },
        ]
      })
    case 'compaction':
      return []
    default:
      return textEvents(
        'response.function_call_arguments',
        place,
        String(item['arguments']),
        'arguments',
      )
  }
}

function textEvents(
  type: string,
  at: JsonObject,
  text: string,
  field: string,
): readonly JsonObject[] {
  return [
    ...splitIntoPieces(text).map((delta) => ({ type: `${type}.delta`, ...at, delta })),
    { type: `${type}.done`, ...at, [field]: text },
  ]
}
