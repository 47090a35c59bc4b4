/**
 * The built-in demo provider, which needs no API key. A script answers, so equal prompts get equal
 * answers. Its API consists of the gateway's own events, so it is the shortest provider to read.
 */
import { createFailure } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import { isTerminalEvent, type ItemStarted, type StreamEvent } from '../../core/stream-event.ts'
import { NO_OUTPUT } from '../../core/stream/stream-stage.ts'
import { createNoteCollector, type NoteTable } from '../note-collector.ts'
import type { Provider, Decoder } from '../provider-interface.ts'
import { countQuirk } from '../quirks/quirk-value-kinds.ts'
import { INCLUDED_WITHOUT_UPSTREAM } from '../request/include-values.ts'
import { isDefaultValue } from '../request/is-default-value.ts'
import { listExtraToolFields } from '../request/list-extra-tool-fields.ts'

const NOTES = {
  'demo-has-no-such-setting': ['dropped', 'The demo model ignores this setting.'],
  'demo-knows-functions-only': ['dropped', 'The demo model calls only functions.'],
} as const satisfies NoteTable

export const demo: Provider = {
  wire: 'demo',
  getPassThroughDialect: () => null,
  encode: ({ items, params, stream }, account) => ({
    path: '/answers',
    body: {
      model: params.model,
      instructions: params.instructions,
      items: items as unknown as JsonObject[],
      tools: params.tools as unknown as JsonObject[],
      toolChoice: params.toolChoice,
      stream,
      delayMs: account.quirks['delayMs'] ?? 12,
    },
    notes: noteIgnoredParameters(params),
    unsentStopSequences: params.stop,
  }),
  createHeaders: () => ({}),
  notes: NOTES,
  quirks: { delayMs: countQuirk('Milliseconds between two pieces of an answer. Default: 12.') },
  createDecoder: decodeStream,
  decodeBody: (body) => body['events'] as unknown as readonly StreamEvent[],
  parseErrorResponse: (status, body) =>
    createFailure('upstream_broken', readMessage(body), { status }),
}

function readMessage(body: JsonObject | string): string {
  if (!isObject(body)) return body
  return typeof body['message'] === 'string' ? body['message'] : 'The demo upstream refuses.'
}

/** Writes a note for each setting that the demo model ignores. */
function noteIgnoredParameters(params: PromptParameters): readonly Note[] {
  const notes = createNoteCollector('demo', NOTES)
  const settings = { ...listSettings(params), ...params.extra }
  for (const [field, value] of Object.entries(settings)) {
    if (!isDefaultValue(field, value)) notes.write('demo-has-no-such-setting', { field })
  }
  for (const [at, tool] of params.tools.entries()) {
    const path = `tools[${at}]`
    if (tool.type !== 'function') notes.write('demo-knows-functions-only', { field: path })
    else {
      for (const field of listExtraToolFields(tool, path))
        notes.write('demo-has-no-such-setting', { field })
    }
  }
  return notes.notes
}

function listSettings(params: PromptParameters): Readonly<Record<string, Json | undefined>> {
  return {
    temperature: params.temperature,
    top_p: params.topP,
    max_output_tokens: params.maxOutputTokens,
    seed: params.seed,
    presence_penalty: params.presencePenalty,
    frequency_penalty: params.frequencyPenalty,
    top_logprobs: params.topLogprobs,
    'text.format':
      params.format === null || params.format.type === 'text' ? null : params.format.type,
    'text.verbosity': params.verbosity,
    'reasoning.effort': params.effort,
    parallel_tool_calls: params.tools.length === 0 ? null : params.parallelToolCalls,
    service_tier: params.serviceTier,
    prompt_cache_key: params.promptCacheKey,
    safety_identifier: params.safetyIdentifier,
    user: params.user,
    include: params.include.filter((value) => !INCLUDED_WITHOUT_UPSTREAM.has(value)),
  }
}

/** Decodes the demo's events. If the stream breaks off, ends the open item as incomplete. */
function decodeStream(): Decoder {
  let isOver = false
  let open: ItemStarted | null = null
  let text = ''
  return {
    push({ data }) {
      const event = JSON.parse(data) as StreamEvent
      if (event.type === 'item-started') [open, text] = [event, '']
      else if (event.type === 'item-ended') open = null
      else if ('text' in event) text += event.text
      isOver = isTerminalEvent(event)
      return [event]
    },
    end() {
      if (isOver) return NO_OUTPUT
      isOver = true
      const failed: StreamEvent = { type: 'answer-failed', failure: BROKEN }
      if (open === null) return [failed]
      const item = createIncompleteItem(open.item, text)
      return [{ type: 'item-ended', index: open.index, item }, failed]
    },
  }
}

const BROKEN = createFailure('upstream_broken', 'The demo upstream broke off, as it was asked to.')

function createIncompleteItem(item: Item, text: string): Item {
  const status = 'incomplete'
  if (item.type === 'message') return { ...item, status, content: [{ type: 'output_text', text }] }
  if (item.type === 'reasoning') return { ...item, content: [{ type: 'reasoning_text', text }] }
  return item.type === 'function_call' ? { ...item, status, arguments: text } : item
}
