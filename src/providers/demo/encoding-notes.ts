/** What the demo model does not heed, for it does not think about how it speaks: a note for each. */
import type { Json } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { Params } from '../../core/prompt.ts'
import { isDefault } from '../request/is-default-value.ts'
import { openNotebook, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  'demo-has-no-such-setting': ['dropped', 'The demo model always says the same to the same.'],
  'demo-knows-functions-only': ['dropped', 'The demo model calls functions, and no other tools.'],
} as const satisfies NoteTable

export function ignored(params: Params): readonly Note[] {
  const notebook = openNotebook('demo', NOTES)
  const settings = { ...named(params), ...params.extra }
  for (const [field, value] of Object.entries(settings)) {
    if (!isDefault(field, value)) notebook.write('demo-has-no-such-setting', { field })
  }
  for (const [at, { type }] of params.tools.entries()) {
    if (type !== 'function') notebook.write('demo-knows-functions-only', { field: `tools[${at}]` })
  }
  return notebook.notes
}

function named(params: Params): Readonly<Record<string, Json | undefined>> {
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
