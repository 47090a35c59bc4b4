/** What the demo model does not heed, for it does not think about how it speaks: a note for each. */
import type { Json } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import { isDefaultValue } from '../request/is-default-value.ts'
import { createNoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  'demo-has-no-such-setting': ['dropped', 'The demo model always says the same to the same.'],
  'demo-knows-functions-only': ['dropped', 'The demo model calls functions, and no other tools.'],
} as const satisfies NoteTable

export function noteIgnoredParameters(params: PromptParameters): readonly Note[] {
  const notebook = createNoteCollector('demo', NOTES)
  const settings = { ...named(params), ...params.extra }
  for (const [field, value] of Object.entries(settings)) {
    if (!isDefaultValue(field, value)) notebook.write('demo-has-no-such-setting', { field })
  }
  for (const [at, { type }] of params.tools.entries()) {
    if (type !== 'function') notebook.write('demo-knows-functions-only', { field: `tools[${at}]` })
  }
  return notebook.notes
}

function named(params: PromptParameters): Readonly<Record<string, Json | undefined>> {
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
