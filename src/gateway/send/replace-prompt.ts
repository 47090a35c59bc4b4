/**
 * Replaces the prompt of a prepared request: encodes the new prompt, and replaces the notes of the encoder.
 */
import type { Note } from '../../core/note.ts'
import type { Prompt } from '../../core/prompt.ts'
import { dropPreviouslyRejectedParameters } from '../../providers/request/drop-rejected-parameters.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import {
  dropNotesAboutAddedParameters,
  translateProviderNotes,
} from '../prompt/translate-provider-notes.ts'

/**
 * Returns the request with the new prompt. `originalPositions`: for each item of the new prompt, its index
 * in the conversation. `addedNotes`: notes about the changes to the prompt.
 */
export function replacePrompt(
  prepared: PreparedRequest,
  prompt: Prompt,
  originalPositions: PreparedRequest['originalPositions'],
  addedNotes: readonly Note[],
): PreparedRequest {
  const { account, provider, clientRequest, addedParameters } = prepared
  const encoded = dropPreviouslyRejectedParameters(provider.encode(prompt, account), prepared.notes)
  const keptNotes = prepared.notes.filter(({ by }) => by !== provider.wire)
  const ownNotes = dropNotesAboutAddedParameters(encoded.notes, addedParameters)
  const bodyNotes = translateProviderNotes(ownNotes, originalPositions, clientRequest.body)
  const notes = [...keptNotes, ...addedNotes, ...bodyNotes]
  return { ...prepared, prompt, encoded, originalPositions, notes }
}
