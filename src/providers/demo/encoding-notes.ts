/** Writes a note for each setting that the demo model ignores. */
import type { Json } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import { isDefaultValue } from '../request/is-default-value.ts'
import { createNoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  'demo-has-no-such-setting': ['dropped', 'The demo model ignores this setting.'],
  'demo-knows-functions-only': ['dropped', 'The demo model calls only functions.'],
} as const satisfies NoteTable

export function noteIgnoredParameters(params: PromptParameters): readonly Note[] {
  const notes = createNoteCollector('demo', NOTES)
  const settings = { ...listSettings(params), ...params.extra }
  for (const [field, value] of Object.entries(settings)) {
    if (!isDefaultValue(field, value)) notes.write('demo-has-no-such-setting', { field })
  }
  for (const [at, { type }] of params.tools.entries()) {
    if (type !== 'function') notes.write('demo-knows-functions-only', { field: `tools[${at}]` })
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
  }
}
